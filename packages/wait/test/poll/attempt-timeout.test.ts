import { FakeClock } from "@holdfast/clock/testing";
import { type Attempt, findError, type PollOptions, poll, TimeoutError } from "@holdfast/wait";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { errorOf } from "../../../../test/error-of.ts";

let clock: FakeClock;
let start: number;
let stop: AbortController;
let calls: (readonly [at: number, attempt: number])[];

beforeEach(() => {
  clock = new FakeClock();
  start = clock.monotonic();
  stop = new AbortController();
  calls = [];
});

afterEach(() => {
  expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
});

/** Hangs in these calls, and is true from call 3 on. */
const probe =
  (...hanging: readonly number[]) =>
  ({ attempt }: Attempt): boolean | Promise<never> => {
    calls.push([clock.monotonic() - start, attempt]);
    return hanging.includes(attempt) ? new Promise(() => {}) : attempt >= 3;
  };

const run = (fn: (attempt: Attempt) => unknown, options: PollOptions) =>
  clock.run(() => poll(fn, { backoff: { duration: 100 }, signal: stop.signal, clock, ...options }));

it("goes on after a call that hangs, without onError", async () => {
  const onError = vi.fn();
  expect(await run(probe(1, 2), { attemptTimeout: 1_000, timeout: 60_000, onError })).toBe(true);
  expect(calls).toEqual([
    [0, 1],
    [1_100, 2],
    [2_200, 3],
  ]);
  expect(onError).not.toHaveBeenCalled();
});

it("aborts the signal of the call, and of no other", async () => {
  const signals: AbortSignal[] = [];
  const hangs = ({ attempt, signal }: Attempt): boolean | Promise<never> => {
    signals.push(signal);
    return attempt === 2 || new Promise<never>(() => {});
  };
  await run(hangs, { attemptTimeout: 1_000 });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  expect(findError(signals[0]?.reason, TimeoutError)?.timeout).toBe(1_000);
});

it("names the running call when the whole time is over", async () => {
  const error = await errorOf(run(probe(2), { timeout: 5_000 }));
  expect((error as Error).message).toBe(
    "timed out after 5000 ms: call 2 had been running for 4900 ms",
  );
});

it("names no call during a delay, and has the timeout of the last call as its cause", async () => {
  const error = await errorOf(run(probe(1, 2), { timeout: 1_050, attemptTimeout: 1_000 }));
  expect((error as Error).message).toBe("timed out after 1050 ms");
  expect(findError((error as Error).cause, TimeoutError)?.timeout).toBe(1_000);
});
