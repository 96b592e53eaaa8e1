// A failed request whose body stalls or breaks: its status is known, and nothing waits for the rest.
import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { builtIn, Cluster, findApiError, KubeClient, type KubeObject } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { type Answer, scriptedTransport } from "./scripted-transport.ts";

const ConfigMap = builtIn<KubeObject>("v1", "ConfigMap");
const ann = { namespace: "default", name: "ann" };

async function* start(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

/** A body that begins, and then waits for the abort of nobody. */
async function* stalled(): AsyncGenerator<Uint8Array> {
  yield* start('{"kind":"Status","message":"token-of-');
  await new Promise(() => {});
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield* start('{"kind":"Status","message":"token-of-');
  throw new Error("ECONNRESET");
}

type Call = (client: KubeClient) => Promise<unknown>;
const list: Call = async (client) => {
  for await (const _ of client.list(ConfigMap, { pageSize: 1 }));
};

const CALLS: Record<string, Call> = {
  get: (client) => client.get(ConfigMap, ann),
  find: (client) => client.find(ConfigMap, ann),
  list,
  create: (client) => client.create(ConfigMap, { metadata: ann }),
  update: (client) => client.update(ConfigMap, { metadata: { ...ann, resourceVersion: "1" } }),
  patch: (client) => client.patch(ConfigMap, ann, {}),
  apply: (client) => client.apply(ConfigMap, { metadata: ann }),
  delete: (client) => client.delete(ConfigMap, ann),
};

async function failureOf(call: Call, answer: Answer) {
  const clock = new FakeClock();
  const { transport, requests } = scriptedTransport(answer);
  const client = new KubeClient({ transport, clock, fieldManager: "test", logger: silentLogger });
  const begun = clock.monotonic();
  const error = await clock.run(() => call(client).catch((reason: unknown) => reason));
  expect(clock.waiters()).toBe(0);
  return { error: findApiError(error), requests, duration: clock.monotonic() - begun };
}

describe.each(Object.entries(CALLS))("%s", (_, call) => {
  it.each([404, 403, 422, 410])(
    "ends with %i after one request, though its body stalls",
    async (status) => {
      const { error, requests, duration } = await failureOf(call, { status, chunks: stalled() });
      expect([error?.statusCode, requests.length, duration]).toEqual([status, 1, 500]);
      expect(error?.message).toContain("the response is incomplete");
      expect(error?.message).not.toContain("token-of-");
    },
  );

  it("ends at once with the status if the body breaks", async () => {
    const { error, requests, duration } = await failureOf(call, { status: 404, chunks: broken() });
    expect([error?.statusCode, requests.length, duration]).toEqual([404, 1, 0]);
  });
});

it.each([
  ["stalls", stalled],
  ["breaks", broken],
])(
  "an informer whose watch is refused with 410 lists again, though the body %s",
  async (_, chunks) => {
    const clock = new FakeClock();
    const begun = clock.monotonic();
    const times: number[] = [];
    const page = { metadata: { resourceVersion: "1" }, items: [] };
    const { transport } = scriptedTransport();
    const send: typeof transport.send = async ({ path }) => {
      const body = path.includes("watch=true") ? chunks() : start(JSON.stringify(page));
      if (!path.includes("watch=true")) times.push(clock.monotonic() - begun);
      return { status: path.includes("watch=true") ? 410 : 200, headers: {}, body };
    };
    const cluster = new Cluster({ transport: { ...transport, send }, clock, logger: silentLogger });
    cluster.watch(ConfigMap);
    const stop = new AbortController();
    const running = cluster.run(stop.signal);
    await clock.step(30_000);
    expect(times.length).toBeGreaterThan(2);
    stop.abort();
    await running;
    expect(clock.waiters()).toBe(0);
  },
);
