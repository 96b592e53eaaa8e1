import { type Clock, realClock } from "@holdfast/clock";
import {
  abortSignal,
  flag,
  type Kinds,
  methods,
  notNegative,
  parsed,
  read,
  required,
  whole,
} from "@holdfast/kit";
import { defer, EMPTY, identity, type MonoTypeOperatorFunction, repeat, tap } from "rxjs";
import type { BackoffOptions } from "../delay/backoff-options.ts";
import type { BackoffStrategy } from "../delay/backoff-strategy.ts";
import { toNanoseconds } from "../delay/nanoseconds.ts";
import { strategyOf } from "../delay/strategy-of.ts";
import { endedBy } from "./ended-by.ts";
import { Pace } from "./pace.ts";
import { timerOn } from "./timer-on.ts";

export const REPEAT_BACKOFF_OPTIONS: Kinds<RepeatBackoffOptions> = {
  backoff: required(parsed("backoff")),
  repeats: whole(0),
  maxElapsed: notNegative,
  resetOnSuccess: flag,
  signal: abortSignal,
  clock: methods("monotonic", "afterFunc"),
};

/** Options for {@link repeatBackoff}. */
export interface RepeatBackoffOptions {
  /** Delays: a strategy, or the options of a `Backoff`. */
  readonly backoff: BackoffStrategy | BackoffOptions;

  /**
   * Maximum number of subscriptions after the first. A whole number, at least 0, or `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly repeats?: number | undefined;

  /**
   * Latest start of a repetition, in milliseconds. At least 0, or `Infinity`. If the next repetition
   * would start later, the stream completes at once. Does not interrupt a run of the source.
   *
   * Measured from the subscription or, with `resetOnSuccess`, from the end of the last run with a
   * value.
   *
   * @defaultValue `Infinity`
   */
  readonly maxElapsed?: number | undefined;

  /**
   * Whether a value of the source resets `repeats`, `maxElapsed` and the delays.
   *
   * @defaultValue `false`
   */
  readonly resetOnSuccess?: boolean | undefined;

  /**
   * Ends the stream: it fails with `signal.reason` at once, during a run of the source or a delay.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;

  /**
   * Measures delays and elapsed time.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

/**
 * Subscribes to a source again when it completes, with growing delays.
 *
 * Each subscription has its own delays and limits. With `resetOnSuccess` only empty runs make the
 * delays grow: a queue is read often while it has items, and rarely while it is empty.
 *
 * | Event | Result |
 * | --- | --- |
 * | the source completes | subscribes again after the delay |
 * | it completes after the last repetition, or the next would start after `maxElapsed` | completes at once |
 * | the source fails | fails with the error unchanged; to continue, put {@link retryBackoff} before this operator |
 * | `signal` aborts | fails with `signal.reason` at once |
 * | unsubscribed during a delay | stops the timer |
 *
 * @param options - see {@link RepeatBackoffOptions}
 * @returns an operator
 * @throws RangeError or TypeError if an option is out of its range
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { repeatBackoff } from "@holdfast/wait/rxjs";
 * import { defer, from } from "rxjs";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const batches = [["a"], [], [], ["b"], []];
 * defer(() => from(batches.shift() ?? []))
 *   .pipe(
 *     repeatBackoff({
 *       backoff: { duration: 100, factor: 2, cap: 5_000 },
 *       repeats: 3,
 *       resetOnSuccess: true,
 *       clock,
 *     }),
 *   )
 *   .subscribe({
 *     next: (job) => console.log(job, clock.monotonic() - start),
 *     complete: () => console.log("gave up", clock.monotonic() - start),
 *   });
 * await clock.step(60_000);
 * // => a 0
 * // => b 700
 * // => gave up 1400
 * ```
 */
export function repeatBackoff<T>(options: RepeatBackoffOptions): MonoTypeOperatorFunction<T> {
  const {
    backoff,
    repeats = Number.POSITIVE_INFINITY,
    maxElapsed = Number.POSITIVE_INFINITY,
    resetOnSuccess = false,
    signal,
    clock = realClock,
  } = read("options", options, "repeatBackoff", REPEAT_BACKOFF_OPTIONS);
  const strategy = strategyOf("options.backoff", backoff);
  return (source) =>
    defer(() => {
      const pace = new Pace(strategy, clock);
      return source.pipe(
        resetOnSuccess ? tap(() => pace.succeed()) : identity,
        repeat({
          delay() {
            const { attempt, elapsed } = pace.endRun();
            if (attempt > repeats) return EMPTY;
            const delay = pace.nextDelay();
            const isLate = toNanoseconds(elapsed + delay) > toNanoseconds(maxElapsed);
            return isLate ? EMPTY : timerOn(clock, delay);
          },
        }),
        signal === undefined ? identity : endedBy(signal),
      );
    });
}
