import { type Clock, realClock } from "@holdfast/clock";
import {
  requireFunction,
  requireMethods,
  requireNotNegative,
  requireOptions,
} from "@holdfast/clock/internal";
import { asScheduler } from "@holdfast/clock/rxjs";
import {
  first,
  type MonoTypeOperatorFunction,
  map,
  merge,
  type Observable,
  type OperatorFunction,
  retry,
  throwError,
  timer,
} from "rxjs";
import type { BackoffOptions } from "../delay/backoff-options.ts";
import type { BackoffStrategy } from "../delay/backoff-strategy.ts";
import { TimeoutError } from "../limit/timeout-error.ts";
import { RetryAfterError } from "../retry/retry-after-error.ts";
import { isTerminalError } from "../retry/terminal-error.ts";
import { repeatBackoff } from "./repeat-backoff.ts";
import { timerOn } from "./timer-on.ts";

/** What {@link pollBackoff} can be told. */
export interface PollBackoffOptions {
  /** The shape of the delays: a strategy, or the options of a `Backoff`. */
  readonly backoff: BackoffStrategy | BackoffOptions;

  /**
   * How long to wait for the value at most, in milliseconds, at least 0 or `Infinity`. When it is
   * over the stream fails with a `TimeoutError`, also while the source is being asked.
   *
   * @defaultValue `Infinity`
   */
  readonly timeout?: number | undefined;

  /**
   * Measures the delays and the timeout.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

/**
 * Asks a source again and again, later each time, until one of its values will do; emits that one
 * and completes.
 *
 * To ask is to subscribe. The next question comes a delay after the source has completed. Values
 * that will not do are left out; to see them, use {@link repeatBackoff} with rxjs' `takeWhile`.
 *
 * | What happens | What the stream does |
 * | --- | --- |
 * | `until` returns true for a value | emits it, completes, and unsubscribes from the source |
 * | the source completes without such a value | waits, then subscribes to it again |
 * | the source fails with a `RetryAfterError` | waits as long as it names, then subscribes again |
 * | the source fails otherwise, or `until` throws | fails at once with that very error |
 * | the timeout is over | fails with a `TimeoutError`, and unsubscribes from the source |
 * | it is unsubscribed from | stops the timers |
 *
 * @param until - whether a value will do
 * @param options - see {@link PollBackoffOptions}
 * @returns an operator
 * @throws RangeError or TypeError if an argument is out of its range
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { pollBackoff } from "@holdfast/wait/rxjs";
 * import { defer } from "rxjs";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const phases = ["Pending", "Pending", "Running"];
 * const pod = defer(async () => ({ phase: phases.shift() }));
 *
 * pod
 *   .pipe(
 *     pollBackoff(({ phase }) => phase === "Running", {
 *       backoff: { duration: 500, factor: 2, cap: 10_000 },
 *       timeout: 60_000,
 *       clock,
 *     }),
 *   )
 *   .subscribe(({ phase }) => console.log(phase, clock.monotonic() - start));
 * await clock.step(60_000);
 * // => Running 1500
 * ```
 */
export function pollBackoff<T, S extends T>(
  until: (value: T) => value is S,
  options: PollBackoffOptions,
): OperatorFunction<T, S>;
export function pollBackoff<T>(
  until: (value: T) => boolean,
  options: PollBackoffOptions,
): MonoTypeOperatorFunction<T>;
export function pollBackoff<T>(
  until: (value: T) => boolean,
  options: PollBackoffOptions,
): MonoTypeOperatorFunction<T> {
  requireFunction("until", until);
  requireOptions("options", options);
  const { backoff, timeout = Number.POSITIVE_INFINITY, clock = realClock } = options;
  requireNotNegative("options.timeout", timeout);
  requireMethods("options.clock", clock, ["now", "monotonic", "afterFunc"]);
  const repeated = repeatBackoff<T>({ backoff, clock });
  const limit = timer(timeout, asScheduler(clock)).pipe(
    map((): never => {
      throw new TimeoutError(timeout);
    }),
  );
  // The limit comes first: of two timers that are due together, the older one fires first.
  const waitAndGoOn = (error: unknown): Observable<void> => {
    const after = RetryAfterError.delayOf(error);
    const isWait =
      after !== undefined && after < Number.POSITIVE_INFINITY && !isTerminalError(error);
    return isWait ? timerOn(clock, after) : throwError(() => error);
  };
  return (source) => {
    const patient = source.pipe(retry({ delay: waitAndGoOn }), repeated);
    return merge(limit, patient).pipe(first((value) => until(value)));
  };
}
