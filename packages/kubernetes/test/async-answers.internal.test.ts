import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import { builtIn, KubeClient } from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import { errorOf } from "../../../test/error-of.ts";
import { keySource } from "../src/cluster/informer-source.ts";

const no = (async () => false) as never;

it("a Promise from when of a source is a mistake, and wakes the key", async () => {
  const changes = {
    name: "configmaps",
    start: async (context: { enqueue: (change: never) => void }) =>
      context.enqueue({ key: "default/ann" } as never),
  };
  const seen: string[] = [];
  const context = {
    clock: new FakeClock(),
    enqueue: (key: string) => seen.push(key),
    failed: (error: unknown) => seen.push(String(error)),
  };
  await keySource(changes as never, { when: no }).start(
    context as never,
    new AbortController().signal,
  );
  expect(seen).toEqual([
    "TypeError: options.when(change) must return true or false, got a Promise",
    "default/ann",
  ]);
});

it("a Promise from when of a rule is a mistake, and no fault", async () => {
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [] });
  api.intercept({ fault: { type: "status", status: 503 }, when: no });
  const client = new KubeClient({ transport: api.transport, clock });
  const get = () => errorOf(client.get(builtIn("v1", "ConfigMap"), "default/ann"));
  expect(String(await clock.run(get))).toContain(
    "rule.when(request) must return true or false, got a Promise",
  );
});
