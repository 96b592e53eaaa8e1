import { abortable, onAbort, realClock } from "@holdfast/clock";
import {
  abortSignal,
  above,
  func,
  isStop,
  type Kinds,
  loopClock,
  MAX_RETRY_AFTER,
  methods,
  notNegative,
  parsed,
  read,
  requireFunction,
  requireNotNegative,
  retryAfterOf,
  whole,
} from "@holdfast/kit";
import type { BackoffOptions } from "../delay/backoff-options.ts";
import { toNanoseconds } from "../delay/nanoseconds.ts";
import { strategyOf } from "../delay/strategy-of.ts";
import { Deadline } from "../limit/deadline.ts";
import { Attempts } from "./attempts.ts";
import { RetryAfterError } from "./retry-after-error.ts";
import type { Attempt, RetryContext, RetryOptions } from "./retry-options.ts";
import { isTerminalError } from "./terminal-error.ts";

export const RETRY_OPTIONS: Kinds<RetryOptions> = {
  backoff: parsed("backoff"),
  retries: whole(0),
  maxElapsed: notNegative,
  timeout: above(0),
  attemptTimeout: above(0),
  maxRetryAfter: notNegative,
  budget: methods("call", "reserve", "use"),
  signal: abortSignal,
  clock: loopClock,
  shouldRetry: func,
  delay: func,
  onRetry: func,
};

const NEVER = Number.POSITIVE_INFINITY;
const DEFAULT_BACKOFF: BackoffOptions = { duration: 100, factor: 2, jitter: 0.5, cap: 30_000 };

/**
 * Calls `fn` until it succeeds, with growing delays between the attempts.
 *
 * The first attempt starts at once. A value of any type that `fn` throws or rejects with is a failure.
 *
 * | Event | Result |
 * | --- | --- |
 * | `fn` returns or resolves | resolves with the value |
 * | `fn` fails | waits for the next delay, then calls `fn` again |
 * | `fn` fails after the last retry | rejects with the error unchanged, without a delay |
 * | `fn` fails, and the `budget` allows no retry | rejects with the error unchanged, without a delay |
 * | `fn` fails, and the next attempt would start after `maxElapsed` | rejects with the error unchanged, without a delay |
 * | `fn` fails, and `shouldRetry` returns false | rejects with the error unchanged, without a delay |
 * | `fn` throws a {@link TerminalError}, or an error caused by one | rejects with the error unchanged, without a delay |
 * | `fn` throws a {@link RetryAfterError}, or an error caused by one | waits as long as it names, at least for the next delay and at most for `maxRetryAfter`, then calls `fn` again |
 * | that error names `Infinity` | rejects with the error unchanged, without a delay |
 * | a hook or the strategy throws | rejects with that error; `fn` is not called again |
 * | `timeout` expires | rejects with a {@link TimeoutError} at once |
 * | `signal` is already aborted | rejects with `signal.reason`; `fn` is not called |
 * | `signal` aborts | rejects with `signal.reason` at once |
 *
 * Limits are independent: the first one reached ends the call. The delay of a `RetryAfterError`
 * ignores `cap` and advances the backoff. The `delay` hook receives it as `next` and may replace it,
 * also if it is `Infinity`. A delay of 0 still yields to the event loop.
 *
 * Without `timeout` and `attemptTimeout`, `fn` receives the `signal` of the options itself. Remove
 * listeners that `fn` adds to it: they stay until the signal is garbage collected. With `attemptTimeout`,
 * each attempt receives a signal of its own; with `timeout` alone, all attempts of a call share one.
 *
 * An abort and an expired time limit do not wait for `fn`, so pass its signal on. A later result
 * is ignored, but for a {@link TerminalError} or a {@link RetryAfterError} of an attempt that exceeded `attemptTimeout`: if
 * it comes before the next attempt, it takes the place of the `TimeoutError`, so `retry` rejects with it or waits as long
 * as it names. Attempts overlap only if one continues after its signal has aborted.
 *
 * @param fn - the work; receives the number of the attempt and a signal, see {@link Attempt}
 * @param options - see {@link RetryOptions}
 * @returns a promise of the value of the first attempt that succeeds; bad arguments reject it with a
 * RangeError or TypeError. When it settles, no timer and no listener remain
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { retry } from "@holdfast/wait";
 *
 * const clock = new FakeClock(); // in production leave it out: the default is `realClock`
 * async function download({ attempt }: { attempt: number }) {
 *   if (attempt < 3) throw new Error("503");
 *   return "the page";
 * }
 *
 * const page = await clock.run(() =>
 *   retry(download, {
 *     backoff: { duration: 500, factor: 2, cap: 30_000 },
 *     retries: 5,
 *     attemptTimeout: 10_000,
 *     onRetry: ({ attempt, error, delay }) =>
 *       console.log(`attempt ${attempt}: ${error}, again in ${delay} ms`),
 *     clock,
 *   }),
 * );
 * console.log(page);
 * // => attempt 1: Error: 503, again in 500 ms
 * // => attempt 2: Error: 503, again in 1000 ms
 * // => the page
 * ```
 */
export async function retry<Value>(
  fn: (attempt: Attempt) => Value | PromiseLike<Value>,
  options: RetryOptions = {},
): Promise<Value> {
  requireFunction("fn", fn);
  const plan = readOptions(options);
  const start = plan.clock.monotonic();
  let lastError: unknown;
  const end = endOf(plan, () => lastError);
  const signal = end?.signal;
  const attempts = new Attempts(fn, { ...plan, signal });
  try {
    plan.budget?.call();
    for (let attempt = 1; ; attempt++) {
      try {
        return await attempts.begin(attempt, lastError);
      } catch (error) {
        lastError = attempts.failed(error);
        await pause(plan, { attempt, error, start, signal }, attempts);
      }
    }
  } catch (error) {
    if (end === undefined || !isStop(error, end.signal)) throw error;
    throw end.withCaller(end.signal.reason);
  } finally {
    attempts[Symbol.dispose]();
    end?.[Symbol.dispose]();
  }
}

/** Ends the call: a deadline, or the signal alone with the one listener for all waits. Throws if it has aborted already. */
function endOf({ clock, stop, timeout }: Plan, cause: () => unknown) {
  stop?.throwIfAborted();
  if (timeout < NEVER) return new Deadline(timeout, { clock, signal: stop, cause });
  if (stop === undefined) return undefined;
  const end = onAbort(stop, () => {});
  return Object.assign(end, { signal: stop, withCaller: (reason: unknown) => reason });
}

/** A failed attempt. */
interface Failure {
  readonly attempt: number;
  readonly error: unknown;
  /** Instant of the call. */
  readonly start: number;
  /** Ends the call; undefined if nothing does. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Waits between two attempts. Throws the error of the first one if no other may follow. A verdict that comes meanwhile
 * takes the place of that error.
 */
async function pause(plan: Plan, failure: Failure, attempts: Attempts<unknown>): Promise<void> {
  const { clock, budget } = plan;
  let delay = planDelay(plan, failure);
  const reserved = budget?.reserve();
  if (budget !== undefined && reserved === undefined) throw failure.error;
  try {
    if (plan.hasHooks) delay = await askHooks(plan, failure, delay);
    await clock.sleep(delay, { signal: failure.signal, label: "backoff" });
  } catch (error) {
    reserved?.giveBack();
    throw error;
  }
  const verdict = attempts.takeVerdict();
  if (verdict === undefined) return;
  reserved?.giveBack();
  await pause(plan, { ...failure, ...verdict }, attempts);
}

/** Chooses the delay before the next attempt, or throws the error if none may follow. */
function planDelay(plan: Plan, failure: Failure): number {
  const { attempt, error, signal } = failure;
  if (isStop(error, signal) || isTerminalError(error) || attempt > plan.retries) throw error;
  const planned = plan.nextDelay();
  const after = retryAfterOf(error, plan.maxRetryAfter) ?? 0;
  const delay = Math.max(planned, after);
  // No hook is called if no attempt can follow. A `delay` hook can still choose 0.
  if (plan.chooseDelay !== undefined) {
    requireTime(plan, failure, 0);
    return delay;
  }
  if (after === NEVER) throw error;
  requireTime(plan, failure, delay);
  return delay;
}

/** Asks the hooks in their order. Resolves with the delay, or rejects with the error if it ends the call. */
async function askHooks(plan: Plan, failure: Failure, next: number): Promise<number> {
  const { clock, retries, shown, shouldRetry, chooseDelay, onRetry } = plan;
  const { attempt, error, start, signal } = failure;
  let delay = next;
  const context = (): RetryContext => {
    const elapsed = clock.monotonic() - start;
    const retriesLeft = retries - attempt + 1;
    return Object.freeze({ attempt, error, delay, elapsed, retriesLeft, signal: shown });
  };
  const ask = <Answer>(hook: () => Answer | PromiseLike<Answer>): Answer | PromiseLike<Answer> =>
    signal === undefined ? hook() : abortable(hook, signal);
  if (shouldRetry !== undefined && !(await ask(() => shouldRetry(context())))) throw error;
  if (chooseDelay !== undefined) {
    requireTime(plan, failure, 0);
    delay = requireNotNegative("options.delay()", await ask(() => chooseDelay(context(), delay)));
  }
  requireTime(plan, failure, delay);
  if (onRetry !== undefined) {
    await ask(() => onRetry(context()));
    requireTime(plan, failure, delay);
  }
  return delay;
}

/**
 * Throws the error of a failure if an attempt after `rest` would start too late. In whole nanoseconds, because the
 * difference of two instants has a rounding error.
 */
function requireTime({ clock, maxElapsed }: Plan, { start, error }: Failure, rest: number): void {
  const next = clock.monotonic() - start + rest;
  if (toNanoseconds(next) > toNanoseconds(maxElapsed)) throw error;
}

type Plan = ReturnType<typeof readOptions>;

/** The options, read once and checked, with their defaults. */
function readOptions(options: RetryOptions) {
  const given = read("options", options, "retry", RETRY_OPTIONS);
  const { backoff = DEFAULT_BACKOFF, signal: stop, clock = realClock, budget } = given;
  const { signal: shown = new AbortController().signal } = given;
  const { shouldRetry, delay: chooseDelay, onRetry } = given;
  const nextDelay = strategyOf("options.backoff", backoff).delayFunc();
  budget?.use(clock);
  const hasHooks = [shouldRetry, chooseDelay, onRetry].some(Boolean);
  const hooks = { hasHooks, shouldRetry, chooseDelay, onRetry };
  return { stop, shown, clock, nextDelay, budget, ...limitsOf(given), ...hooks };
}

function limitsOf(given: RetryOptions) {
  const { maxElapsed = NEVER, timeout = NEVER, attemptTimeout = NEVER } = given;
  const { retries = Math.min(maxElapsed, timeout) === NEVER ? 10 : NEVER } = given;
  const { maxRetryAfter = MAX_RETRY_AFTER } = given;
  return { retries, maxElapsed, timeout, attemptTimeout, maxRetryAfter };
}
