import { abortable, requireFunction } from "@holdfast/clock/internal";
import { type Done, loop } from "../loop/loop.ts";
import type { Attempt } from "./attempt.ts";
import { RetryAttempts, retryPlan } from "./retry-attempts.ts";
import type { RetryOptions } from "./retry-options.ts";

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
 * | `fn` fails, and the next attempt would start after `maxElapsed` | rejects with the error unchanged, without a delay |
 * | `fn` fails, and `shouldRetry` returns false | rejects with the error unchanged, without a delay |
 * | `fn` throws a {@link TerminalError}, or an error caused by one | rejects with the error unchanged, without a delay |
 * | `fn` throws a {@link RetryAfterError}, or an error caused by one | waits as long as it names, then calls `fn` again |
 * | that error names `Infinity` | rejects with the error unchanged, without a delay |
 * | a hook or the strategy throws | rejects with that error; `fn` is not called again |
 * | `signal` is already aborted | rejects with `signal.reason`; `fn` is not called |
 * | `signal` aborts | rejects with `signal.reason` at once |
 *
 * Limits are independent: the first one reached ends the call. The delay of a `RetryAfterError`
 * ignores `cap` and advances the backoff. The `delay` hook receives it as `next` and may replace it,
 * also if it is `Infinity`. A delay of 0 still yields to the event loop.
 *
 * Without `attemptTimeout`, `fn` receives the `signal` of the options itself. Remove listeners that
 * `fn` adds to it: they stay until the signal is garbage collected. With `attemptTimeout`, each
 * attempt receives a signal of its own.
 *
 * An abort and an expired `attemptTimeout` do not wait for `fn`, so pass its signal on. A later result
 * is ignored. Attempts overlap only if one continues after its signal has aborted.
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
  const plan = retryPlan(options);
  const attempts = new RetryAttempts(fn, plan);
  const repeat = (signal: AbortSignal) =>
    loop({
      run: (own) => attempts.run(own),
      isDone: () => true,
      onError: (error) => attempts.failed(error),
      delay: () => attempts.delay,
      clock: plan.clock,
      signal,
    });
  const done = await abortable(repeat, plan.signal);
  return (done as Done<Value>).value;
}
