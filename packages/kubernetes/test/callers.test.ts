import { FakeClock } from "@holdfast/clock/testing";
import {
  atUrl,
  builtIn,
  ensureCrd,
  isApiError,
  isConnectionError,
  KubeClient,
} from "@holdfast/kubernetes";
import { isTimeoutError } from "@holdfast/wait";
import type { ConfigMap as ConfigMapObject } from "kubernetes-types/core/v1.js";
import { describe, expect, it } from "vitest";
import { BOTH, callersOf } from "../../../test/callers.ts";
import {
  type Answer,
  busy,
  failure,
  type Step,
  scriptedTransport,
} from "./client/scripted-transport.ts";
import { quietLogger } from "./secrets.ts";

const ConfigMap = builtIn<ConfigMapObject>("v1", "ConfigMap");
const metadata = { name: "ann", namespace: "default", uid: "u", resourceVersion: "7" };
const FOUND: Answer = { body: { metadata } };
const object = { metadata: { name: "ann", namespace: "default" } };
const ref = "default/ann";
const crd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "greetings.example.org" },
  spec: {
    group: "example.org",
    scope: "Namespaced",
    names: { kind: "Greeting", plural: "greetings" },
    versions: [{ name: "v1", served: true, storage: true }],
  },
};

const CALLS: Record<string, (client: KubeClient) => PromiseLike<unknown>> = {
  get: (client) => client.get(ConfigMap, ref),
  find: (client) => client.find(ConfigMap, ref),
  create: (client) => client.create(ConfigMap, object),
  update: (client) => client.update(ConfigMap, { metadata }),
  patch: (client) => client.patch(ConfigMap, ref, { data: null }),
  apply: (client) => client.apply(ConfigMap, object),
  modify: (client) => client.modify(ConfigMap, ref, () => {}),
  delete: (client) => client.delete(ConfigMap, ref),
  ensureCrd: (client) => ensureCrd(client, crd as never),
};

function world(...steps: readonly Step[]) {
  const clock = new FakeClock();
  const { transport } = scriptedTransport(...steps);
  const client = new KubeClient({ transport, clock, logger: quietLogger() });
  return { clock, client };
}

describe.each(Object.entries(CALLS))("the stack of an error of %s shows the callers", (_, call) => {
  it("when the server refuses at once", async () => {
    const { clock, client } = world(failure(403, "Forbidden"));
    const { error, callers } = await clock.run(() => callersOf(() => call(client)));
    expect([isApiError(error), callers]).toEqual([true, BOTH]);
  });

  it("when the server refuses the third time", async () => {
    const wait = busy(429, 1);
    const { clock, client } = world(wait, wait, failure(403, "Forbidden"));
    const { error, callers } = await clock.run(() => callersOf(() => call(client)));
    expect([isApiError(error), callers]).toEqual([true, BOTH]);
  });

  it("when the time is over", async () => {
    const { clock, client } = world("silence");
    const { error, callers } = await clock.run(() => callersOf(() => call(client)));
    expect([isTimeoutError(error), callers]).toEqual([true, BOTH]);
  });

  it("when there is no connection", async () => {
    const transport = atUrl("http://127.0.0.1:1");
    const client = new KubeClient({ transport, logger: quietLogger() });
    const { error, callers } = await callersOf(() => call(client));
    expect([isConnectionError(error), callers]).toEqual([true, BOTH]);
  });
});

it("the stack of an error of a list shows the callers", async () => {
  const { clock, client } = world(failure(403, "Forbidden"));
  async function readAll(): Promise<void> {
    for await (const _ of client.list(ConfigMap)) expect.unreachable();
  }
  const { error, callers } = await clock.run(() => callersOf(readAll));
  expect([isApiError(error), callers]).toEqual([true, BOTH]);
});

it.each([1, 3])(
  "the stack of an error of a change shows the callers, at attempt %i",
  async (last) => {
    const { clock, client } = world(
      ...Array.from({ length: last - 1 }, () => [FOUND, failure(409, "Conflict")]).flat(),
      FOUND,
    );
    let calls = 0;
    const change = async (stored: { data?: Record<string, string> }): Promise<void> => {
      await Promise.resolve();
      if (++calls === last) throw new Error("inside");
      stored.data = { a: "1" };
    };
    const modify = () => client.modify(ConfigMap, ref, change);
    const { error, callers } = await clock.run(() => callersOf(modify));
    expect([(error as Error).message, callers]).toEqual(["inside", BOTH]);
  },
);

it("at most five frames of ours stand between a change and the caller", async () => {
  const { clock, client } = world(FOUND);
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 50;
  try {
    const modify = client.modify(ConfigMap, ref, () => {
      throw new Error("inside");
    });
    const error = (await clock.run(() => modify.catch((caught: unknown) => caught))) as Error;
    const frames = error.stack?.match(/^ +at .*$/gm) ?? [];
    const ours = /packages\/(clock|wait|kubernetes)\/src\/(?!testing)/;
    expect(frames.filter((frame) => ours.test(frame)).length).toBeLessThanOrEqual(5);
  } finally {
    Error.stackTraceLimit = limit;
  }
});
