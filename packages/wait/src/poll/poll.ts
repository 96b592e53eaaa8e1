import { abortable, type Clock, realClock } from "@holdfast/clock";
import {
  abortSignal,
  above,
  finiteFrom,
  func,
  type Kinds,
  loopClock,
  MAX_RETRY_AFTER,
  notNegative,
  parsed,
  read,
  requireFunction,
} from "@holdfast/kit";
import type { BackoffOptions } from "../delay/backoff-options.ts";
import type { BackoffStrategy } from "../delay/backoff-strategy.ts";
import { strategyOf } from "../delay/strategy-of.ts";
import { Deadline } from "../limit/deadline.ts";
import { loop } from "../loop/loop.ts";
import type { LoopOptions } from "../loop/loop-options.ts";
import { Attempts } from "../retry/attempts.ts";
import { RetryAfterError, withRetryAfter } from "../retry/retry-after-error.ts";
import type { Attempt } from "../retry/retry-options.ts";
import { isTerminalError } from "../retry/terminal-error.ts";

export const POLL_OPTIONS: Kinds<PollOptions> = {
  interval: finiteFrom(0),
  backoff: parsed("backoff"),
  timeout: above(0),
  attemptTimeout: above(0),
  maxRetryAfter: notNegative,
  signal: abortSignal,
  clock: loopClock,
  onError: func,
};

const NEVER = Number.POSITIVE_INFINITY;
const DEFAULT_BACKOFF: BackoffOptions = { duration: 100, factor: 1.5, jitter: 0.1, cap: 1_000 };

/** Options for {@link poll}. */
export interface PollOptions extends LoopOptions {
  /**
   * Constant delay from the end of a call to the next, in milliseconds. Finite, at least 0. It excludes `backoff`.
   *
   * @defaultValue none: the delays of `backoff`
   */
  readonly interval?: number | undefined;

  /**
   * Delays from the end of a call to the next, if they grow: a strategy, or the options of a {@link Backoff}.
   *
   * @defaultValue `{ duration: 100, factor: 1.5, jitter: 0.1, cap: 1_000 }`
   */
  readonly backoff?: BackoffStrategy | BackoffOptions | undefined;

  /**
   * Time limit of the whole poll, in milliseconds. Above 0, or `Infinity`. When it expires, the promise
   * rejects with a {@link TimeoutError}, and the signal of `fn` aborts with the same error. The
   * `cause` is the last error of `fn`. The message names the call that is running.
   *
   * @defaultValue `Infinity`
   */
  readonly timeout?: number | undefined;

  /**
   * Time limit of each call, in milliseconds. Above 0, or `Infinity`. A call that takes longer counts as
   * false: its signal aborts with a {@link TimeoutError}, and the poll goes on after the next delay. One
   * call that hangs then does not use up the `timeout` of the whole poll.
   *
   * @defaultValue `Infinity`
   */
  readonly attemptTimeout?: number | undefined;

  /**
   * Maximum delay that a {@link RetryAfterError} may demand, in milliseconds. At least 0; `Infinity` is
   * no limit. The delays of `backoff` stay as they are.
   *
   * @defaultValue `900_000`, 15 minutes
   */
  readonly maxRetryAfter?: number | undefined;

  /**
   * Ends the poll: the promise rejects with `signal.reason` at once.
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

/** `Value` without its falsy members: the type that {@link poll} resolves with. */
export type Truthy<Value> = Exclude<Value, false | 0 | 0n | "" | null | undefined>;

/**
 * Calls `fn` until it returns a truthy value, and resolves with that value.
 *
 * The first call is immediate. Calls never overlap. To wait for `0` or `""`, return it in an object.
 *
 * | Event | Result |
 * | --- | --- |
 * | `fn` returns or resolves with `false`, `0`, `0n`, `NaN`, `""`, `null` or `undefined` | waits for the next delay, then calls `fn` again |
 * | `fn` returns or resolves with any other value | resolves with it |
 * | `fn` throws or rejects, with `onError` | calls `onError` with the error, continues after the delay |
 * | `fn` throws or rejects, without `onError` | rejects with the error unchanged |
 * | `fn` throws a {@link TerminalError}, or an error caused by one | rejects with the error unchanged, without `onError` |
 * | `fn` throws a {@link RetryAfterError}, or an error caused by one | waits as long as it names, at least for the next delay and at most for `maxRetryAfter`, then calls `fn` again, without `onError` |
 * | that error names `Infinity` | rejects with the error unchanged |
 * | `onError` or the strategy throws | rejects with that error; `fn` is not called again |
 * | a call takes longer than `attemptTimeout` | aborts its signal, waits for the next delay, then calls `fn` again, without `onError` |
 * | `timeout` expires | rejects with a {@link TimeoutError} at once |
 * | `signal` is already aborted | rejects with `signal.reason`; `fn` is not called |
 * | `signal` aborts | rejects with `signal.reason` at once |
 *
 * Without `timeout` and `attemptTimeout`, `fn` receives the `signal` of the options itself. Remove
 * listeners that `fn` adds to it: they stay until the signal is garbage collected. With `attemptTimeout`,
 * each call receives a signal of its own; with `timeout` alone, all calls of one poll share one.
 *
 * An abort and an expired time limit do not wait for `fn`, so pass its signal on. A later result is
 * ignored, but for a {@link TerminalError} or a {@link RetryAfterError} of a call that exceeded `attemptTimeout`: if it
 * comes before the next call, it is the result of that call, which is not made.
 *
 * By default an error rejects: otherwise a mistake in `fn` would look like a condition that is never
 * true. To continue after some errors, pass an `onError` that rethrows the others.
 *
 * @param fn - returns the value, or a falsy value to be called again; receives the number of the call
 * and a signal, see {@link Attempt}
 * @param options - see {@link PollOptions}
 * @returns a promise of the first truthy value; bad arguments reject it with a RangeError or
 * TypeError. When it settles, no timer and no listener remain
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
 *     { interval: 500, timeout: 60_000, clock },
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
  const given = read("options", options, "poll", POLL_OPTIONS);
  const { signal: stop = new AbortController().signal, timeout = NEVER } = given;
  const { attemptTimeout = NEVER, maxRetryAfter = MAX_RETRY_AFTER } = given;
  const { clock = realClock, onError } = given;
  const nextDelay = strategyOf("options.backoff", backoffOf(given)).delayFunc();

  let attempt = 0;
  let startedAt: number | undefined;
  let lastError: unknown;
  /** The last error, if it names a time. */
  let demand: unknown;
  const message = (): string => {
    if (startedAt === undefined) return `timed out after ${timeout} ms`;
    const age = Math.round(clock.monotonic() - startedAt);
    return `timed out after ${timeout} ms: call ${attempt} had been running for ${age} ms`;
  };
  const whole = new Deadline(timeout, { clock, signal: stop, message, cause: () => lastError });
  const { signal } = whole;

  const attempts = new Attempts(fn, { clock, attemptTimeout, signal, shown: signal });
  const run = (): Value | PromiseLike<Value> => {
    const verdict = attempts.takeVerdict();
    if (verdict !== undefined) throw verdict.error;
    startedAt = clock.monotonic();
    return attempts.begin(++attempt);
  };
  const failed = (error: unknown): unknown => {
    startedAt = undefined;
    attempts.failed(error);
    if (isTerminalError(error)) throw error;
    const isLate = attempts.hasTimedOut(error);
    const after = RetryAfterError.delayOf(error);
    if (after === NEVER || !(isLate || after !== undefined || onError)) throw error;
    lastError = error;
    demand = error;
    return isLate || after !== undefined ? undefined : abortable(() => onError?.(error), signal);
  };
  const delay = (): number => {
    startedAt = undefined;
    attempts[Symbol.dispose]();
    const milliseconds = withRetryAfter(nextDelay(), demand, maxRetryAfter);
    demand = undefined;
    return milliseconds;
  };

  try {
    const done = await loop({ run, isDone: Boolean, onError: failed, delay, clock, signal });
    if (done === undefined) throw whole.withCaller(signal.reason);
    return done.value as Truthy<Value>;
  } finally {
    attempts[Symbol.dispose]();
    whole[Symbol.dispose]();
  }
}

function backoffOf({ interval, backoff }: PollOptions): BackoffStrategy | BackoffOptions {
  if (backoff === undefined)
    return interval === undefined ? DEFAULT_BACKOFF : { duration: interval };
  if (interval === undefined) return backoff;
  throw new RangeError("options.interval must be undefined beside options.backoff");
}
