import type { Clock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { Controller, LeaderElector, silentLogger } from "@holdfast/controller";
import { FakeApi, type FakeVerb, type Fault } from "@holdfast/fake-apiserver";
import {
  builtIn,
  Cluster,
  EventRecorder,
  KubeClient,
  type KubeObject,
  LeaseLock,
} from "@holdfast/kubernetes";
import { poll, RetryAfterError, retry } from "@holdfast/wait";
import { connectWithBackoff, keepConnected } from "@holdfast/wait/connect";
import { parseRetryAfter } from "@holdfast/wait/limit";
import { backoffDelay, pollBackoff, retryBackoff } from "@holdfast/wait/rxjs";
import { defer, retry as retryStream } from "rxjs";
import { describe, expect, it } from "vitest";
import { busy, scriptedTransport } from "./client/scripted-transport.ts";
import { quietLogger } from "./secrets.ts";

interface Options {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly maxRetryAfter?: number;
}

/** Calls `fn` until the signal aborts, as a door of a package repeats failed work. */
type Repeat = (fn: () => Promise<never>, options: Options) => unknown;

const ignore = (): void => {};
const backoff = { duration: 100, factor: 1 };

const DOORS: Record<string, Repeat> = {
  retry: (fn, options) => retry(fn, { ...options, backoff, retries: 1_000 }).catch(ignore),
  poll: (fn, options) => poll(fn, { ...options, backoff }).catch(ignore),
  retryBackoff: (fn, { signal: _, ...options }) =>
    defer(fn)
      .pipe(retryBackoff({ ...options, backoff }))
      .subscribe(),
  pollBackoff: (fn, { signal: _, ...options }) =>
    defer(fn)
      .pipe(pollBackoff(() => true, { ...options, backoff }))
      .subscribe(),
  backoffDelay: (fn, { signal: _, ...options }) =>
    defer(fn)
      .pipe(retryStream({ delay: backoffDelay(backoff, options) }))
      .subscribe(),
  connectWithBackoff: (fn, options) =>
    connectWithBackoff(fn, { ...options, backoff }).catch(ignore),
  keepConnected: (fn, options) =>
    keepConnected(ignore, fn, { ...options, backoff, onError: ignore, random: () => 0 }), // spreads its delays
  Controller: (fn, { signal, clock, ...options }) => {
    const logger = quietLogger();
    const controller = new Controller({ name: "keys", reconcile: fn, clock, logger, ...options });
    controller.add("key");
    return controller.run(signal);
  },
};

/** The times at which a door calls a function that always fails with this delay. */
async function timesOf(repeat: Repeat, after: number, duration: number, maxRetryAfter?: number) {
  const clock = new FakeClock();
  const start = clock.monotonic();
  const stop = new AbortController();
  const times: number[] = [];
  const fn = async (): Promise<never> => {
    times.push(clock.monotonic() - start);
    throw new RetryAfterError(after);
  };
  const limit = maxRetryAfter === undefined ? {} : { maxRetryAfter };
  const end = repeat(fn, { clock, signal: stop.signal, ...limit });
  await clock.step(duration);
  stop.abort();
  if (end instanceof Promise) await clock.run(() => end);
  return times;
}

describe.each(Object.entries(DOORS))("a Retry-After in %s", (_, repeat) => {
  it("of 0 does not switch the backoff off", async () => {
    expect((await timesOf(repeat, 0, 500)).length).toBeLessThanOrEqual(8);
  });

  it("longer than the planned delay is obeyed", async () => {
    expect(await timesOf(repeat, 7_000, 14_500)).toEqual([0, 7_000, 14_000]);
  });

  it("of years waits for 15 minutes, or for maxRetryAfter", async () => {
    const years = Number.MAX_SAFE_INTEGER;
    expect(await timesOf(repeat, years, 1_000_000)).toEqual([0, 900_000]);
    expect(await timesOf(repeat, years, 15_000, 7_000)).toEqual([0, 7_000, 14_000]);
    expect(await timesOf(repeat, years, 1_000_000, Number.POSITIVE_INFINITY)).toEqual([0]);
  });
});

describe("a Retry-After in the calls of a KubeClient", () => {
  const read = async (seconds: number, timeout: number): Promise<number[]> => {
    const clock = new FakeClock();
    const start = clock.monotonic();
    const times: number[] = [];
    const { transport } = scriptedTransport(busy(429, seconds));
    const send: typeof transport.send = (...request) => {
      times.push(clock.monotonic() - start);
      return transport.send(...request);
    };
    const client = new KubeClient({ transport: { ...transport, send }, clock });
    const get = () => client.get(builtIn("v1", "ConfigMap"), "default/ann", { timeout });
    await clock.run(() => get().catch(ignore));
    return times;
  };

  it("of 0 does not switch the backoff off", async () => {
    const times = await read(0, 60_000);
    expect(times.length).toBe(6);
    expect(times.at(-1)).toBeGreaterThan(3_000);
  });

  it("of years waits for 15 minutes at most", async () => {
    expect(await read(1e9, 1_000_000)).toEqual([0, 900_000]);
  });
});

/** Sends requests to an API server until the signal aborts, again and again. */
type Ask = (world: {
  readonly api: FakeApi;
  readonly clock: FakeClock;
  readonly signal: AbortSignal;
}) => Promise<unknown>;

const ConfigMap = builtIn<KubeObject>("v1", "ConfigMap");
const Lease = builtIn("coordination.k8s.io/v1", "Lease");
const Event = builtIn("events.k8s.io/v1", "Event");
const random = () => 0.5;
const logger = silentLogger;

const inform: Ask = ({ api, clock, signal }) => {
  const cluster = new Cluster({ transport: api.transport, clock, logger, random });
  cluster.watch(ConfigMap);
  return cluster.run(signal);
};

/** Each door, and the verbs that its server is too busy for. */
const ASKING: Record<string, readonly [verbs: readonly FakeVerb[], ask: Ask]> = {
  "an informer that lists": [["list"], inform],
  "an informer that watches": [["watch"], inform],
  "an EventRecorder": [
    ["create", "patch"],
    ({ api, clock, signal }) => {
      const client = new KubeClient({ transport: api.transport, clock, random });
      const events = new EventRecorder({ client, controller: "x", clock, logger, random });
      for (let i = 0; i < 20; i++)
        events.record(
          {
            apiVersion: "v1",
            kind: "ConfigMap",
            metadata: { name: `a${i}`, namespace: "default" },
          },
          { reason: "Synced", action: "Sync", note: "all is well" },
        );
      return events.run(signal);
    },
  ],
  ...Object.fromEntries(
    (["get", "create", "update"] as const).map((verb): [string, [FakeVerb[], Ask]] => [
      `an elector and the ${verb} of its Lease`,
      [
        [verb],
        ({ api, clock, signal }) => {
          const client = new KubeClient({ transport: api.transport, clock, random });
          const lock = new LeaseLock({ client, namespace: "default", name: "lease", clock });
          const lead = ({ signal: end }: { signal: AbortSignal }) =>
            new Promise<void>((resolve) => end.addEventListener("abort", () => resolve()));
          const elector = new LeaderElector({ lock, identity: "a", lead, clock, logger, random });
          return elector.run(signal);
        },
      ],
    ]),
  ),
};

describe.each(Object.entries(ASKING))("a Retry-After to %s", (_, [verbs, ask]) => {
  /** The times of the requests that a busy server refuses within ten minutes. */
  const refusals = async (retryAfter?: number): Promise<number[]> => {
    const clock = new FakeClock();
    const start = clock.monotonic();
    const api = new FakeApi({ clock, resources: [ConfigMap, Event, Lease] });
    const times: number[] = [];
    const fault = (): Fault => {
      times.push(clock.monotonic() - start);
      return { type: "status", status: 429, retryAfter };
    };
    api.intercept({ fault, verbs });
    const stop = new AbortController();
    const running = ask({ api, clock, signal: stop.signal }).catch(ignore);
    await clock.step(600_000);
    const seen = [...times];
    stop.abort();
    await clock.run(() => running);
    expect(clock.waiters()).toBe(0);
    return seen;
  };

  it("of a second replaces no longer delay", async () => {
    const without = await refusals();
    const named = await refusals(1);
    expect(without.length).toBeGreaterThan(10);
    expect(named.length).toBeLessThanOrEqual(without.length);
  });

  // A leader that may not renew loses its lease before the minute is over, and competes again at once.
  it.skipIf(verbs.includes("update"))("of a minute is obeyed", async () => {
    const distinct = [...new Set(await refusals(60))];
    const delays = distinct.slice(1).map((time, at) => time - (distinct[at] as number));
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(60_000);
  });
});

it.each(["9007199254740993", "9007199254741", "1".repeat(400)])(
  "a Retry-After of %s seconds is malformed: no safe integer of milliseconds",
  (value) => {
    expect(parseRetryAfter(value)).toBeUndefined();
  },
);
