import { type Clock, realClock, type Timer } from "@holdfast/clock";
import {
  requireAbove,
  requireFunction,
  requireHooks,
  requireOptions,
  requireSignal,
} from "@holdfast/clock/internal";
import type { BackoffOptions } from "../delay/backoff-options.ts";
import type { BackoffStrategy } from "../delay/backoff-strategy.ts";
import { strategyOf } from "../delay/strategy-of.ts";
import { withTimeout } from "../limit/with-timeout.ts";
import { ReusedTimer } from "../loop/backoff-manager.ts";
import { type Done, loop } from "../loop/loop.ts";
import type { LoopOptions } from "../loop/loop-options.ts";
import type { Attempt } from "../retry/attempt.ts";
import { RetryAfterError } from "../retry/retry-after-error.ts";
import { isTerminalError } from "../retry/terminal-error.ts";

const DEFAULT_BACKOFF: BackoffOptions = { duration: 100, factor: 1.5, jitter: 0.1, cap: 1_000 };

/** What {@link poll} can be told. */
export interface PollOptions extends LoopOptions {
  /**
   * The delays from the end of a call to the next: any strategy, or the options of a
   * {@link Backoff}. `{ duration: 500 }` is a fixed interval.
   *
   * @defaultValue `{ duration: 100, factor: 1.5, jitter: 0.1, cap: 1_000 }`
   */
  readonly backoff?: BackoffStrategy | BackoffOptions | undefined;

  /**
   * How long to wait for the value at most, in milliseconds. Above 0, or `Infinity`. When it is
   * over, the promise rejects with a {@link TimeoutError} whose `cause` is the last error that
   * `onError` took, and the signal that `fn` received aborts with the same.
   *
   * @defaultValue `Infinity`
   */
  readonly timeout?: number | undefined;

  /**
   * Ends the wait at once: the promise rejects with `signal.reason`.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;

  /**
   * Measures all times.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

/** A value without what counts as false: what {@link poll} can resolve with. */
export type Truthy<Value> = Exclude<Value, false | 0 | 0n | "" | null | undefined>;

/**
 * Calls `fn` until it returns something that counts as true, and resolves with that.
 *
 * The first call is immediate, calls never overlap. To wait for `0` or `""`, return it in an object.
 *
 * | What happens | What `poll` does |
 * | --- | --- |
 * | `fn` returns `false`, `0`, `0n`, `NaN`, `""`, `null` or `undefined`, or a promise of it | waits, calls it again |
 * | `fn` returns anything else, or a promise of it | resolves with that |
 * | `fn` throws or rejects, `onError` is given | hands the error over, goes on after the delay |
 * | `fn` throws or rejects otherwise | rejects with that error, the same object |
 * | `fn` throws a {@link TerminalError} | rejects with it at once |
 * | `timeout` is over | rejects with a {@link TimeoutError} at once |
 * | `signal` is aborted already | rejects with `signal.reason`; `fn` is never called |
 * | `signal` aborts | rejects with `signal.reason`, the same object, at once |
 *
 * An abort, or the end of `timeout`, does not wait for `fn`: hand its signal on to whatever it waits
 * for, so that it stops, too. What it comes to afterwards, nobody hears of.
 *
 * An error ends the wait by default, because one in `fn` itself would otherwise show up as a wait
 * that never ends. To go on after some errors, give an `onError` that rethrows the others.
 *
 * @param fn - asks for the value. It receives the number of the call and a signal, see
 * {@link Attempt}
 * @param options - see {@link PollOptions}
 * @returns a promise for the first value that counts as true. When it settles, no timer and no
 * listener is left. Bad arguments reject it with a RangeError or TypeError
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { isTimeoutError, poll } from "@holdfast/wait";
 *
 * const clock = new FakeClock();
 * const phases = ["Pending", "Pending", "Running"];
 * const pod = await clock.run(() =>
 *   poll(
 *     ({ attempt }) => {
 *       const phase = phases.shift();
 *       return phase === "Running" && { phase, attempt };
 *     },
 *     { backoff: { duration: 500 }, timeout: 60_000, clock },
 *   ),
 * );
 * console.log(pod); // => { phase: 'Running', attempt: 3 }
 *
 * const never = clock.run(() => poll(() => false, { timeout: 5_000, clock }));
 * console.log(isTimeoutError(await never.catch((error: unknown) => error))); // => true
 * ```
 */
export async function poll<Value>(
  fn: (attempt: Attempt) => Value | PromiseLike<Value>,
  options: PollOptions = {},
): Promise<Truthy<Value>> {
  requireFunction("fn", fn);
  requireOptions("options", options);
  const { signal = new AbortController().signal, timeout = Number.POSITIVE_INFINITY } = options;
  const { backoff = DEFAULT_BACKOFF, clock = realClock, onError } = options;
  requireSignal("options.signal", signal);
  requireAbove("options.timeout", timeout, 0);
  requireHooks("options", options, ["onError"]);
  const timer = new ReusedTimer("options.clock", clock);
  const nextDelay = strategyOf("options.backoff", backoff).delayFunc();
  let attempt = 0;
  let lastError: unknown;
  let retryAfter: number | undefined;

  const failed = (error: unknown, own: AbortSignal): unknown => {
    if (isTerminalError(error) || own.aborted) throw error;
    retryAfter = RetryAfterError.delayOf(error);
    if (retryAfter === Number.POSITIVE_INFINITY) throw error;
    if (retryAfter !== undefined) return undefined;
    if (onError === undefined) throw error;
    lastError = error;
    return onError(error);
  };
  const backOff = (): Timer => {
    const delay = retryAfter ?? nextDelay();
    retryAfter = undefined;
    return timer.arm(delay);
  };
  const repeat = (own: AbortSignal) =>
    loop({
      run: () => fn({ attempt: ++attempt, signal: own }),
      isDone: Boolean,
      onError: (error) => failed(error, own),
      manager: { backoff: backOff },
      signal: own,
    });
  const done = await withTimeout(repeat, timeout, { signal, clock, cause: () => lastError });
  return (done as Done<Truthy<Value>>).value;
}
