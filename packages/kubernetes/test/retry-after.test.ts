import type { Clock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { Controller } from "@holdfast/controller";
import { builtIn, KubeClient } from "@holdfast/kubernetes";
import {
  connectWithBackoff,
  keepConnected,
  parseRetryAfter,
  poll,
  RetryAfterError,
  retry,
} from "@holdfast/wait";
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
    keepConnected(ignore, fn, { ...options, backoff, onError: ignore }),
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

it.each(["9007199254740993", "9007199254741", "1".repeat(400)])(
  "a Retry-After of %s seconds is malformed: no safe integer of milliseconds",
  (value) => {
    expect(parseRetryAfter(value)).toBeUndefined();
  },
);
