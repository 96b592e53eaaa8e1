import { FakeClock } from "@holdfast/clock/testing";
import {
  atUrl,
  builtIn,
  ConnectionError,
  ensureCrd,
  isApiError,
  isConnectionError,
  KubeClient,
} from "@holdfast/kubernetes";
import { isTimeoutError } from "@holdfast/wait";
import type { ConfigMap as ConfigMapObject } from "kubernetes-types/core/v1.js";
import { describe, expect, it } from "vitest";
import { BOTH, callersOf } from "../../../test/callers.ts";
import { crdOf } from "../../../test/crd.ts";
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
const owner = { apiVersion: "v1", kind: "Pod", name: "o", uid: "o", controller: true };
const OWNED = { metadata: { ...object.metadata, ownerReferences: [owner] } };
const crd = crdOf({ kind: "Greeting" });

const CALLS: Record<string, (client: KubeClient) => PromiseLike<unknown>> = {
  get: (client) => client.get(ConfigMap, ref),
  find: (client) => client.find(ConfigMap, ref),
  create: (client) => client.create(ConfigMap, object),
  update: (client) => client.update(ConfigMap, { metadata }),
  patch: (client) => client.patch(ConfigMap, ref, { data: null }),
  apply: (client) => client.apply(ConfigMap, object),
  modify: (client) =>
    client.modify(ConfigMap, ref, (stored) => Object.assign(stored, { data: {} })),
  upgradeToApply: (client) => client.upgradeToApply(ConfigMap, ref),
  delete: (client) => client.delete(ConfigMap, ref),
  request: (client) => client.request({ path: "/version" }),
  list: (client) => client.list(ConfigMap).next(),
  watch: (client) => client.watch(ConfigMap).next(),
  "apply with owned": (client) => client.apply(ConfigMap, OWNED, { owned: true }),
  "get with subresource": (client) => client.get(ConfigMap, ref, { subresource: "status" }),
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

async function* brokenOff(): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(new TextEncoder().encode("{}"));
  await Promise.resolve();
  throw new ConnectionError({ method: "GET", path: "/" }, "script", { code: "ECONNRESET" });
}
const gone = { type: "ERROR", object: { kind: "Status", code: 410, message: "too old" } };

it.each([
  ["the server ends it with an error", { body: gone }],
  ["it sends no event", { body: "garbage" }],
  ["the connection breaks", { chunks: brokenOff() }],
  ["it lasts too long", "silence" as const],
])("the stack of an error of an open watch shows the callers when %s", async (_, step) => {
  const { clock, client } = world(step);
  async function readAll(): Promise<void> {
    for await (const _ of client.watch(ConfigMap)) expect.unreachable();
  }
  const { error, callers } = await clock.run(() => callersOf(readAll));
  expect([error instanceof Error, callers]).toEqual([true, BOTH]);
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

/** Frames of this package, and of those below it, in the stack of an error of `work`. */
async function framesOf(clock: FakeClock, work: () => PromiseLike<unknown>): Promise<number> {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 50;
  try {
    const error = (await clock.run(async () => {
      try {
        return await work();
      } catch (caught) {
        return caught;
      }
    })) as Error;
    const frames = error.stack?.match(/^ +at .*$/gm) ?? [];
    const ours = /packages\/(clock|wait|kubernetes)\/src\/(?!testing)/;
    return frames.filter((frame) => ours.test(frame)).length;
  } finally {
    Error.stackTraceLimit = limit;
  }
}

it("at most five frames of ours stand between a change and the caller", async () => {
  const { clock, client } = world(FOUND);
  const modify = () =>
    client.modify(ConfigMap, ref, () => {
      throw new Error("inside");
    });
  expect(await framesOf(clock, modify)).toBeLessThanOrEqual(5);
});

/** Ways in which a transport of the user fails. */
const FAILURES: Record<string, () => Promise<never>> = {
  "throws at once": () => {
    throw new Error("inside");
  },
  "rejects at once": async () => {
    throw new Error("inside");
  },
  "rejects later": async () => {
    await Promise.resolve();
    throw new Error("inside");
  },
};

/** A client whose transport answers requests until it fails. */
function failing(fail: () => Promise<never>, ...answers: readonly Answer[]) {
  const clock = new FakeClock();
  const { transport } = scriptedTransport(...answers);
  let rest = answers.length;
  const send: typeof transport.send = (request, signal) =>
    rest-- > 0 ? transport.send(request, signal) : fail();
  const logger = quietLogger();
  return { clock, client: new KubeClient({ transport: { ...transport, send }, clock, logger }) };
}

/** Calls of several requests. */
const SECOND = new Set(["modify", "apply with owned", "ensureCrd"]);

describe.each(Object.entries(CALLS))("%s, if the transport", (name, call) => {
  // It calls other public methods.
  const [most, first] = name === "ensureCrd" ? [8, BOTH.slice(0, 1)] : [5, BOTH];
  describe.each(Object.entries(FAILURES))("%s", (_, fail) => {
    const requests: (readonly [string, readonly Answer[]])[] = [
      ["the first request", []],
      ["a request that was refused before", [busy(429, 1)]],
    ];
    if (SECOND.has(name)) requests.push(["the second request", [FOUND]]);
    it.each(requests)(
      `shows the callers for %s, behind at most ${most} frames of ours`,
      async (_when, answers) => {
        const { clock, client } = failing(fail, ...answers);
        const frames = await framesOf(clock, () => call(client));
        const again = failing(fail, ...answers);
        const shown = await again.clock.run(() => callersOf(() => call(again.client)));
        expect(shown.callers).toEqual(expect.arrayContaining([...first]));
        expect(frames).toBeLessThanOrEqual(most);
      },
    );
  });
});
