import { finiteFrom, flag, func, type Kinds, loopClock, read, requireAtLeast } from "@holdfast/kit";
import type { Random } from "../delay/random.ts";
import { backoffUntil } from "../loop/backoff-until.ts";
import { JitteredBackoffManager } from "../loop/jittered-backoff-manager.ts";
import type { PeriodicOptions } from "../loop/loop-options.ts";

export const PERIODIC_OPTIONS: Kinds<PeriodicOptions> = {
  clock: loopClock,
  onError: func,
};

export const JITTER_UNTIL_OPTIONS: Kinds<JitterUntilOptions> = {
  jitter: finiteFrom(0),
  sliding: flag,
  random: func,
  ...PERIODIC_OPTIONS,
};

/** Options for {@link jitterUntil}. */
export interface JitterUntilOptions extends PeriodicOptions {
  /**
   * Maximum random addition, as a share of the period. Finite, at least 0.
   *
   * @defaultValue `0`, no randomness
   */
  readonly jitter?: number | undefined;

  /**
   * Start of a period. true: when `fn` settles. false: when `fn` is called.
   *
   * @defaultValue `true`
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
 * Calls `fn` at once, then again after a period with jitter, until `signal` aborts.
 *
 * Calls, aborts, errors and the signal of `fn` are as in `backoffUntil`.
 *
 * @param fn - the work; receives `signal` and should settle soon after it aborts
 * @param period - delay between calls before jitter: milliseconds, finite, at least 0
 * @param signal - ends the loop
 * @param options - see {@link JitterUntilOptions}
 * @returns a promise that settles when the loop has ended; no timer and no listener remain. Bad
 * arguments reject it with a RangeError or TypeError
 *
 * Source: `JitterUntil` of k8s.io/apimachinery/pkg/util/wait.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { seededRandom } from "@holdfast/wait/strategies";
 * import { jitterUntil } from "@holdfast/wait/go";
 *
 * const clock = new FakeClock();
 * const stop = new AbortController();
 * let reports = 0;
 * const loop = jitterUntil(() => reports++, 10_000, stop.signal, {
 *   jitter: 0.5, clock, random: seededRandom(1),
 * });
 * await clock.step(60_000);
 * stop.abort();
 * await loop;
 * console.log(reports >= 4 && reports <= 7); // => true
 * ```
 */
export async function jitterUntil(
  fn: (signal: AbortSignal) => unknown,
  period: number,
  signal: AbortSignal,
  options: JitterUntilOptions = {},
): Promise<void> {
  requireAtLeast("period", period, 0);
  const {
    jitter = 0,
    sliding = true,
    clock,
    random,
    onError,
  } = read("options", options, "jitterUntil", JITTER_UNTIL_OPTIONS);
  const manager = new JitteredBackoffManager({ duration: period, jitter, clock, random });
  await backoffUntil(fn, manager, sliding, signal, { onError });
}

/**
 * Calls `fn` at once, then again `period` after each call has settled, until `signal` aborts.
 *
 * Calls, aborts, errors and the signal of `fn` are as in `backoffUntil`.
 *
 * @param fn - the work; receives `signal` and should settle soon after it aborts
 * @param period - milliseconds, finite, at least 0
 * @param signal - ends the loop
 * @param options - see {@link PeriodicOptions}
 * @returns a promise that settles when the loop has ended; no timer and no listener remain. Bad
 * arguments reject it with a RangeError or TypeError
 *
 * Source: `Until` of k8s.io/apimachinery/pkg/util/wait.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { until } from "@holdfast/wait/go";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const stop = new AbortController();
 * const starts: number[] = [];
 *
 * const loop = until(
 *   async () => {
 *     starts.push(clock.monotonic() - start);
 *     await clock.sleep(300);
 *   },
 *   1_000,
 *   stop.signal,
 *   { clock },
 * );
 * await clock.step(2_500);
 * stop.abort();
 * await loop;
 * console.log(starts); // => [ 0, 1300 ]
 * ```
 */
export async function until(
  fn: (signal: AbortSignal) => unknown,
  period: number,
  signal: AbortSignal,
  options: PeriodicOptions = {},
): Promise<void> {
  const { clock, onError } = read("options", options, "until", PERIODIC_OPTIONS);
  await jitterUntil(fn, period, signal, { clock, onError, sliding: true });
}

/**
 * Calls `fn` at once, then again `period` after each start of a call, until `signal` aborts.
 *
 * A call that outlasts its period is followed by the next at once; missed calls are skipped. Calls,
 * aborts, errors and the signal of `fn` are as in `backoffUntil`.
 *
 * @param fn - the work; receives `signal` and should settle soon after it aborts
 * @param period - milliseconds, finite, at least 0
 * @param signal - ends the loop
 * @param options - see {@link PeriodicOptions}
 * @returns a promise that settles when the loop has ended; no timer and no listener remain. Bad
 * arguments reject it with a RangeError or TypeError
 *
 * Source: `NonSlidingUntil` of k8s.io/apimachinery/pkg/util/wait.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { nonSlidingUntil } from "@holdfast/wait/go";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const stop = new AbortController();
 * const starts: number[] = [];
 *
 * const loop = nonSlidingUntil(
 *   async () => {
 *     starts.push(clock.monotonic() - start);
 *     await clock.sleep(300);
 *   },
 *   1_000,
 *   stop.signal,
 *   { clock },
 * );
 * await clock.step(2_500);
 * stop.abort();
 * await loop;
 * console.log(starts); // => [ 0, 1000, 2000 ]
 * ```
 */
export async function nonSlidingUntil(
  fn: (signal: AbortSignal) => unknown,
  period: number,
  signal: AbortSignal,
  options: PeriodicOptions = {},
): Promise<void> {
  const { clock, onError } = read("options", options, "nonSlidingUntil", PERIODIC_OPTIONS);
  await jitterUntil(fn, period, signal, { clock, onError, sliding: false });
}

/**
 * Calls `fn` at once, then again `period` after each call has settled, for the life of the process.
 *
 * No signal ends this loop. Prefer {@link until}, and always use it in tests.
 *
 * @param fn - the work; the signal it receives never aborts
 * @param period - milliseconds, finite, at least 0
 * @param options - see {@link PeriodicOptions}
 * @returns a promise that never resolves; rejects with an error of `fn` without `onError`, and with a
 * RangeError or TypeError for a bad argument
 *
 * Source: `Forever` of k8s.io/apimachinery/pkg/util/wait.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { forever } from "@holdfast/wait/go";
 *
 * const clock = new FakeClock();
 * let left = 3;
 * const end = clock.run(() =>
 *   forever(() => {
 *     if (left-- === 0) throw new Error("out of work");
 *   }, 1_000, { clock }),
 * );
 * console.log(`${await end.catch((error: unknown) => error)}`); // => Error: out of work
 * ```
 */
export async function forever(
  fn: (signal: AbortSignal) => unknown,
  period: number,
  options: PeriodicOptions = {},
): Promise<never> {
  await until(fn, period, new AbortController().signal, options);
  throw new Error("forever: other code stopped the timer of the loop");
}
