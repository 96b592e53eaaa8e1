import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { FakeApi } from "@holdfast/fake-apiserver";
import { runOperator } from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import { ConfigMap, Greeting, greeter } from "../../src/greeter/greeter.ts";

test("greets, repairs foreign changes, and survives a restart of the API server", async () => {
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [Greeting, ConfigMap] });
  const stop = new AbortController();
  await clock.run(async () => {
    const logger = silentLogger; // the outage below would fill the screen
    const options = { name: "greeter", transport: api.transport, setup: greeter, clock, logger };
    const running = runOperator({ ...options, leaderElection: false, health: false }, stop.signal);
    const ann = { namespace: "default", name: "ann" };
    await api.client.create(Greeting, { metadata: ann, spec: { name: "Ann" } });
    await clock.sleep(1_000);
    const child = { namespace: "default", name: "greeting-ann" };
    const text = async () => (await api.client.find(ConfigMap, child))?.data?.["text"];
    expect(await text()).toBe("Hello, Ann!");

    await api.client.delete(ConfigMap, child);
    await clock.sleep(1_000);
    expect(await text()).toBe("Hello, Ann!");

    api.stop();
    await clock.sleep(60_000);
    await api.start({ history: "lost" });
    await api.client.patch(Greeting, ann, { spec: { name: "Bob" } });
    await clock.sleep(60_000);
    expect(await text()).toBe("Hello, Bob!");

    stop.abort();
    await running;
  });
  expect(clock.waiters()).toBe(0);
});
