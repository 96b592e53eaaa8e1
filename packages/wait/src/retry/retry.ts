import { requireFunction } from "@holdfast/clock/internal";
import { withTimeout } from "../limit/with-timeout.ts";
import { type Done, loop } from "../loop/loop.ts";
import type { Attempt } from "./attempt.ts";
import { RetryAttempts, retryPlan } from "./retry-attempts.ts";
import type { RetryOptions } from "./retry-options.ts";

/**
 * Calls `fn` until it succeeds, with growing delays between the attempts.
 *
 * The first attempt is immediate. Attempts never overlap, but for one that outlasted its
 * `attemptTimeout`. Whatever `fn` throws or rejects with is a failure, also what is no `Error`.
 *
 * | What happens | What `retry` does |
 * | --- | --- |
 * | `fn` returns, or its promise resolves | resolves with the value |
 * | `fn` fails, attempts and time are left | waits, calls it again |
 * | `fn` fails, `retries` is used up | rejects with that error, the same object, without a wait |
 * | `fn` fails, the next attempt would start after `maxElapsed` | the same |
 * | `fn` fails, `shouldRetry` says no | the same |
 * | `fn` throws a {@link TerminalError} | rejects with it at once |
 * | a hook throws or rejects | rejects with what it threw; `fn` is not called again |
 * | `signal` is aborted already | rejects with `signal.reason`; `fn` is never called |
 * | `signal` aborts | rejects with `signal.reason`, the same object, at once |
 *
 * Each limit stands for itself, and the first one reached ends it. A delay of 0 still leaves a turn
 * of the event loop to others.
 *
 * An abort, or the end of an `attemptTimeout`, does not wait for `fn`: hand `signal` on to whatever
 * it waits for, so that it stops, too. What it comes to afterwards, nobody hears of.
 *
 * @param fn - the work. It receives the number of the attempt and a signal, see {@link Attempt}
 * @param options - see {@link RetryOptions}
 * @returns a promise for the value of the first attempt that succeeds. When it settles, no timer
 * and no listener is left. Bad arguments reject it with a RangeError or TypeError
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
      onError: (error) => attempts.failed(error),
      manager: attempts,
      signal,
    });
  const { signal, clock } = plan;
  const done = await withTimeout(repeat, Number.POSITIVE_INFINITY, { signal, clock });
  return (done as Done<Value>).value;
}
