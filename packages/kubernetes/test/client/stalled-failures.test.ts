// A failed request whose body stalls or breaks: its status is known, and nothing waits for the rest.
import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import {
  ApiError,
  builtIn,
  Cluster,
  type KubeCallOptions,
  KubeClient,
  type KubeObject,
  LeaseLock,
} from "@holdfast/kubernetes";
import {
  expectOk,
  findError,
  HttpError,
  poll,
  retry,
  TerminalError,
  withTimeout,
} from "@holdfast/wait";
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

type Call = (client: KubeClient, options?: KubeCallOptions) => Promise<unknown>;

/** Reads a list or a watch to its end. */
async function drain(objects: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of objects);
}

const CALLS: Record<string, Call> = {
  get: (client, options) => client.get(ConfigMap, ann, options),
  find: (client, options) => client.find(ConfigMap, ann, options),
  list: (client, options) => drain(client.list(ConfigMap, { pageSize: 1, ...options })),
  watch: (client, options) => drain(client.watch(ConfigMap, { resourceVersion: "1", ...options })),
  create: (client, options) => client.create(ConfigMap, { metadata: ann }, options),
  update: (client, options) =>
    client.update(ConfigMap, { metadata: { ...ann, resourceVersion: "1" } }, options),
  patch: (client, options) => client.patch(ConfigMap, ann, {}, options),
  modify: (client, options) => client.modify(ConfigMap, ann, () => {}, options),
  apply: (client, options) => client.apply(ConfigMap, { metadata: ann }, options),
  upgradeToApply: (client, options) => client.upgradeToApply(ConfigMap, ann, options),
  delete: (client, options) => client.delete(ConfigMap, ann, options),
  deleteCollection: (client, options) => client.deleteCollection(ConfigMap, options),
  request: (client, options) => client.request({ path: "/version", ...options }),
};

async function failureOf(call: Call, answer: Answer) {
  const clock = new FakeClock();
  const { transport, requests } = scriptedTransport(answer);
  const client = new KubeClient({ transport, clock, fieldManager: "test", logger: silentLogger });
  const begun = clock.monotonic();
  const error = await clock.run(() => call(client).catch((reason: unknown) => reason));
  expect(clock.waiters()).toBe(0);
  return { error: findError(error, ApiError), requests, duration: clock.monotonic() - begun };
}

describe.each(Object.entries(CALLS))("%s", (_, call) => {
  it.each([404, 403, 422, 410])(
    "ends with %i after one request, though its body stalls",
    async (status) => {
      const { error, requests, duration } = await failureOf(call, { status, chunks: stalled() });
      expect([error?.status, requests.length, duration]).toEqual([status, 1, 500]);
      expect(error?.message).toContain("the response is incomplete");
      expect(error?.message).not.toContain("token-of-");
    },
  );

  it("ends at once with the status if the body breaks", async () => {
    const { error, requests, duration } = await failureOf(call, { status: 404, chunks: broken() });
    expect([error?.status, requests.length, duration]).toEqual([404, 1, 0]);
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

const LIMITS = [1, 50, 200, 499, 500, 1_000];

/** Sends one request for which a signal is the only limit. */
type Request = (signal: AbortSignal, clock: FakeClock) => Promise<unknown>;

/** What limits a request. Each would repeat it after a `TimeoutError` if it may. */
const LIMITERS: Record<
  string,
  (limit: number, request: Request, clock: FakeClock) => Promise<unknown>
> = {
  withTimeout: (limit, request, clock) =>
    withTimeout((signal) => request(signal, clock), limit, { clock }),
  "withTimeout in withTimeout": (limit, request, clock) =>
    withTimeout(
      (outer) => withTimeout((signal) => request(signal, clock), 60_000, { clock, signal: outer }),
      limit,
      { clock },
    ),
  "retry with attemptTimeout": (attemptTimeout, request, clock) =>
    retry(({ signal }) => request(signal, clock), {
      ...{ attemptTimeout, clock, retries: 3 },
      backoff: { duration: 0.1 },
    }),
  "retry with timeout": (timeout, request, clock) =>
    retry(({ signal }) => request(signal, clock), { timeout, clock, backoff: { duration: 0.1 } }),
  "poll with attemptTimeout": (attemptTimeout, request, clock) =>
    poll(({ signal }) => request(signal, clock), {
      ...{ attemptTimeout, clock, timeout: 5_000 },
      backoff: { duration: 0.1 },
    }),
  "poll with timeout": (timeout, request, clock) =>
    poll(({ signal }) => request(signal, clock), { timeout, clock, backoff: { duration: 0.1 } }),
};

describe.each(LIMITS)(
  "within a limit of %d ms, a status is not hidden by a body that stalls",
  (limit) => {
    it.each(Object.entries(CALLS))("of %s with the option timeout", async (_, call) => {
      const answer: Answer = { status: 410, chunks: stalled() };
      const { error, requests, duration } = await failureOf(
        (client) => call(client, { timeout: limit }),
        answer,
      );
      expect([error?.status, requests.length, duration]).toEqual([
        410,
        1,
        Math.min(500, limit / 2),
      ]);
    });

    describe.each(Object.entries(LIMITERS))("in %s", (_, limiter) => {
      it("of a client", async () => {
        const { transport, requests } = scriptedTransport({ status: 404, chunks: stalled() });
        const error = await errorWithin(limiter, limit, (signal, clock) => {
          const client = new KubeClient({ transport, clock, logger: silentLogger });
          return client.get(ConfigMap, ann, { signal }).catch(terminal);
        });
        expect([findError(error, ApiError)?.status, requests.length]).toEqual([404, 1]);
      });

      it("of a lease", async () => {
        const { transport, requests } = scriptedTransport({ status: 403, chunks: stalled() });
        const error = await errorWithin(limiter, limit, (signal, clock) => {
          const client = new KubeClient({ transport, clock, logger: silentLogger });
          return new LeaseLock({ client, ...ann }).get(signal).catch(terminal);
        });
        expect([findError(error, ApiError)?.status, requests.length]).toEqual([403, 1]);
      });

      it("of expectOk", async () => {
        let requests = 0;
        const error = await errorWithin(limiter, limit, async (signal, clock) => {
          requests++;
          const response = new Response(new ReadableStream({}), { status: 404 });
          return await expectOk(response, { clock, request: { signal } });
        });
        expect([findError(error, HttpError)?.status, requests]).toEqual([404, 1]);
      });
    });

    it("of an informer", async () => {
      const clock = new FakeClock();
      const { transport } = scriptedTransport({ status: 404, chunks: stalled() });
      const cluster = new Cluster({ transport, clock, idleTimeout: limit, logger: silentLogger });
      cluster.watch(ConfigMap);
      const stop = new AbortController();
      const running = cluster.run(stop.signal);
      await clock.step(600);
      const [reflector] = cluster.status().informers.flatMap(({ reflectors }) => reflectors);
      expect([reflector?.isRefused, reflector?.lastError?.message]).toEqual([
        true,
        expect.stringContaining(": 404: "),
      ]);
      stop.abort();
      await running;
      expect(clock.waiters()).toBe(0);
    });
  },
);

async function errorWithin(
  limiter: (typeof LIMITERS)[string],
  limit: number,
  request: Request,
): Promise<unknown> {
  const clock = new FakeClock();
  const error = await clock.run(() =>
    limiter(limit, request, clock).catch((reason: unknown) => reason),
  );
  expect(clock.waiters()).toBe(0);
  return error;
}

/** As an operator does with a status that no other attempt changes. */
function terminal(error: unknown): never {
  throw findError(error, ApiError) === undefined
    ? error
    : new TerminalError("refused", { cause: error });
}
