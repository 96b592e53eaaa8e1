import { type Clock, realClock } from "@holdfast/clock";
import {
  abortSignal,
  finiteFrom,
  flag,
  func,
  Grid,
  type Kinds,
  loopClock,
  read,
  requirePositive,
} from "@holdfast/kit";
import { Backoff } from "../delay/backoff.ts";
import type { DelayFunc } from "../delay/backoff-strategy.ts";
import { defaultRandom, type Random } from "../delay/random.ts";
import { managerOf } from "../loop/backoff-manager.ts";
import { type TickIterator, Ticks } from "./ticks.ts";

export const EVERY_OPTIONS: Kinds<EveryOptions> = {
  signal: abortSignal,
  clock: loopClock,
  jitter: finiteFrom(0),
  immediate: flag,
  sliding: flag,
  random: func,
};

/** Options for {@link every}. */
export interface EveryOptions {
  /**
   * Ends the iteration without an error.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;

  /**
   * Measures the period.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Maximum random lateness of a tick, as a share of the period. Finite, at least 0.
   *
   * @defaultValue `0`, no randomness
   */
  readonly jitter?: number | undefined;

  /**
   * Whether the first tick comes at once instead of after a period.
   *
   * @defaultValue `false`
   */
  readonly immediate?: boolean | undefined;

  /**
   * Start of a period. false: when the previous tick was due. true: at the call of `next()`, which in
   * `for await` is the end of the body.
   *
   * @defaultValue `false`
   */
  readonly sliding?: boolean | undefined;

  /**
   * Source of randomness.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/**
 * Ticks for `for await`, one every `period`, until the signal aborts or the loop ends.
 *
 * Ticks are due at `start + period`, `start + 2 × period` and so on, where `start` is the first call of
 * `next()`. They do not drift. After a body that outlasts its period, one tick follows at once, the
 * next is on the grid again, and missed ticks are skipped. A late tick that is less than a microsecond, or a
 * thousandth of the period, before a point of the grid takes its place, because clocks round. With
 * `sliding: true` a whole period passes between the end of a body and the next tick.
 *
 * | Event | Result |
 * | --- | --- |
 * | `break`, `return` or an error in the body | stops the timer |
 * | `signal` aborts during a period | stops the timer and ends the iteration at once |
 * | `signal` aborts during the body | ends the iteration after the body |
 * | `signal` is already aborted | ends the iteration without a tick |
 *
 * The first call of `next()` arms the first timer. Code that calls `next()` itself must call
 * `return()` at the end.
 *
 * @param period - milliseconds, finite, above 0
 * @param options - see {@link EveryOptions}
 * @returns an iterator over the instants of the ticks: milliseconds of the clock's `monotonic()`
 * @throws RangeError or TypeError if an argument is out of its range
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { every } from "@holdfast/wait";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const stop = new AbortController();
 * clock.afterFunc(60_000, () => stop.abort());
 *
 * const seconds = await clock.run(async () => {
 *   const seen: number[] = [];
 *   for await (const tick of every(15_000, { signal: stop.signal, clock })) {
 *     seen.push((tick - start) / 1_000);
 *     await clock.sleep(4_000); // the work
 *   }
 *   return seen;
 * });
 * console.log(seconds); // => [ 15, 30, 45 ]
 * ```
 */
export function every(period: number, options: EveryOptions = {}): TickIterator {
  requirePositive("period", period);
  const given = read("options", options, "every", EVERY_OPTIONS);
  const { clock = realClock, signal = new AbortController().signal } = given;
  const { immediate = false, sliding = false, jitter = 0, random = defaultRandom } = given;
  const nextDelay = sliding
    ? new Backoff({ duration: period, jitter, random }).delayFunc()
    : gridDelays(clock, period, jitter === 0 ? () => 0 : () => random() * jitter * period);
  const manager = managerOf(nextDelay, clock);
  return new Ticks({ clock, manager, immediate, sliding, signal });
}

/**
 * Delays that end at the points of a grid, which starts with the first call. The delay after a late
 * call is shorter; missed points are skipped. The jitter of a delay does not move the grid.
 */
function gridDelays(clock: Clock, period: number, jitterOf: DelayFunc): DelayFunc {
  let grid: Grid | undefined;
  return () => {
    const left = grid?.next(clock.monotonic()) ?? period;
    grid ??= new Grid(clock, period);
    return left + jitterOf();
  };
}
