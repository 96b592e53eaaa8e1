import { realClock } from "@holdfast/clock";
import {
  Backoff,
  type BackoffManager,
  ExponentialBackoffManager,
  JitteredBackoffManager,
} from "@holdfast/wait";
import { nonSlidingUntil, until } from "@holdfast/wait/go";
import { backoffManager } from "@holdfast/wait/loop";
import { expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";

/** Longer than a machine stalls between two calls. */
const MINUTE = 60_000;

const GROWING = [1, 2, 4, 8, 10, 10, 10];

/** Measured durations of the next delays. */
async function measured(count: number, manager: BackoffManager): Promise<number[]> {
  const seen: number[] = [];
  for (let i = 0; i < count; i++) {
    const start = realClock.monotonic();
    await manager.backoff().fired;
    seen.push(realClock.monotonic() - start);
  }
  return seen;
}

const shortfalls = (delays: readonly number[], least: readonly number[]) =>
  delays.map((delay, index) => Math.max((least[index] as number) - delay, 0));

it("is never early: ExponentialBackoffManager (WithRealClock)", async () => {
  const options = { duration: 1, factor: 2, cap: 10, resetAfter: MINUTE };
  const manager = new ExponentialBackoffManager(options);
  expect(shortfalls(await measured(7, manager), GROWING)).toEqual([0, 0, 0, 0, 0, 0, 0]);
});

it("is never early: JitteredBackoffManager (WithRealClock)", async () => {
  const manager = new JitteredBackoffManager({ duration: 1.5, jitter: 0.5 });
  expect(shortfalls(await measured(5, manager), Array(5).fill(1.5))).toEqual([0, 0, 0, 0, 0]);
});

it("is never early: delayWithReset (RealClockExponential)", async () => {
  const next = new Backoff({ duration: 1, factor: 2, cap: 10 }).delayWithReset(realClock, MINUTE);
  const manager = backoffManager({ delayFunc: () => next }, { clock: realClock });
  expect(shortfalls(await measured(7, manager), GROWING)).toEqual([0, 0, 0, 0, 0, 0, 0]);
});

it.each([
  ["until", until],
  ["nonSlidingUntil", nonSlidingUntil],
] as const)("starves neither immediates nor timers with a period of 0: %s", async (_, loop) => {
  const stop = new AbortController();
  let immediates = 0;
  let timers = 0;
  const countImmediate = () => {
    immediates++;
    if (!stop.signal.aborted) setImmediate(countImmediate);
  };
  const countTimer = () => {
    timers++;
    if (!stop.signal.aborted) setTimeout(countTimer, 1);
  };
  countImmediate();
  countTimer();
  const immediatesByTurn: number[] = [];
  const f = () => {
    immediatesByTurn.push(immediates);
    if (immediatesByTurn.length === 20) stop.abort();
  };
  await loop(f, 0, stop.signal);
  // Not 20: on a stalled machine Node runs an overdue timer in the same turn.
  expect(new Set(immediatesByTurn).size).toBeGreaterThan(1);
  expect(timers).toBeGreaterThan(1);
  expect(abortListeners(stop.signal)).toBe(0);
});
