import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { FakeApi } from "@holdfast/fake-apiserver";
import { builtIn, type KubeObject, runOperator } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import { ConfigMap, Greeting, greeter } from "../../src/greeter/greeter.ts";

const ann = { namespace: "default", name: "ann" };
const child = { namespace: "default", name: "greeting-ann" };
const Secret = builtIn<KubeObject>("v1", "Secret");

it.each([
  ["nobody", []],
  [
    "another controller",
    [{ apiVersion: "v1", kind: "Secret", name: "x", uid: "1", controller: true }],
  ],
])("leaves a ConfigMap that %s owns alone, and says so until it is gone", async (_, owners) => {
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [Greeting, ConfigMap, Secret] });
  const stop = new AbortController();
  await clock.run(async () => {
    const theirs = { metadata: { ...child, ownerReferences: owners }, data: { text: "theirs" } };
    const { metadata } = await api.client.create(ConfigMap, theirs);
    await api.client.create(Greeting, { metadata: ann, spec: { name: "Ann" } });
    const options = { name: "greeter", transport: api.transport, setup: greeter, clock };
    const running = runOperator(
      { ...options, leaderElection: false, health: false, logger: silentLogger },
      stop.signal,
    );
    await clock.sleep(130_000);
    const { status } = await api.client.get(Greeting, ann);
    expect(status).toEqual({
      conditions: [
        {
          type: "NameTaken",
          status: "True",
          reason: "NameTaken",
          message: "greeting-ann is a ConfigMap of another owner",
          lastTransitionTime: "2000-01-01T00:00:00Z",
        },
      ],
    });
    expect((await api.client.get(ConfigMap, child)).metadata).toEqual(metadata);

    await api.client.delete(ConfigMap, child);
    await clock.sleep(60_000);
    expect((await api.client.get(Greeting, ann)).status).toEqual({ text: "Hello, Ann!" });
    stop.abort();
    await running;
  });
  expect(clock.waiters()).toBe(0);
});
