import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { FakeApi } from "@holdfast/fake-apiserver";
import { runOperator } from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import { ConfigMap, Greeting, greeter } from "../../src/greeter/greeter.ts";

test("writes nothing when a new leader looks at 200 greetings that are as they should be", async () => {
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [Greeting, ConfigMap] });
  const applies = () => api.requests.filter(({ method }) => method === "PATCH").length;
  await clock.run(async () => {
    for (let index = 0; index < 200; index++)
      await api.client.create(Greeting, {
        metadata: { namespace: "default", name: `g${index}` },
        spec: { name: "Ann" },
      });
    const pass = async (): Promise<number> => {
      const before = applies();
      const stop = new AbortController();
      const options = { name: "greeter", transport: api.transport, setup: greeter, clock };
      const quiet = { logger: silentLogger, leaderElection: false, health: false } as const;
      const running = runOperator({ ...options, ...quiet }, stop.signal);
      await clock.sleep(10_000);
      stop.abort();
      await running;
      return applies() - before;
    };
    expect(await pass()).toBe(400);
    // Each worker may ask once before a response has shown how owners of an object are merged.
    expect(await pass()).toBeLessThanOrEqual(4);
  });
});
