import { read, requireBoolean, requireFunction } from "@holdfast/kit";
import { Observable } from "rxjs";
import type { BackoffManager } from "../loop/backoff-manager.ts";
import { backoffUntil } from "../loop/backoff-until.ts";
import { LOOP_OPTIONS, type LoopOptions } from "../loop/loop-options.ts";

/**
 * `backoffUntil` as a stream: emits the value of each call of `fn` until it is unsubscribed.
 *
 * Each subscription is an independent loop with its own manager. The first call of `fn` happens during
 * the subscription. Calls never overlap.
 *
 * | Event | Result |
 * | --- | --- |
 * | `fn` returns or resolves | emits the value, calls `fn` again after the delay |
 * | `fn` throws or rejects, with `onError` | calls `onError` with the error, continues after the delay |
 * | `fn` throws or rejects, without `onError` | fails with the error unchanged |
 * | unsubscribed during a delay | stops the timer at once |
 * | unsubscribed during `fn` | aborts the signal of `fn`, and emits no more |
 * | other code stops the timer of the manager | completes |
 *
 * `config.onStoppedNotification` of rxjs receives an error that occurs after the unsubscription. Each
 * subscription has a signal of its own, which is released with it.
 *
 * @param fn - the work; receives a signal and should settle soon after it aborts
 * @param newManager - returns the manager of a subscription, which decides each delay
 * @param sliding - true: a delay starts when `fn` settles. false: it starts when `fn` is called, so a
 * call that outlasts its delay is followed by the next at once, and missed calls are skipped
 * @param options - see `LoopOptions`
 * @returns a cold Observable. It uses promises: test it with `FakeClock`, not with marbles
 * @throws TypeError if an argument has the wrong type
 *
 * Source: `BackoffUntil` of k8s.io/apimachinery/pkg/util/wait.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { ExponentialBackoffManager } from "@holdfast/wait";
 * import { backoffUntil$ } from "@holdfast/wait/rxjs";
 * import { take } from "rxjs";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const newManager = () => new ExponentialBackoffManager({ duration: 100, factor: 2, clock });
 * backoffUntil$(async () => clock.monotonic() - start, newManager, true)
 *   .pipe(take(4))
 *   .subscribe((at) => console.log(at));
 * await clock.step(60_000);
 * // => 0
 * // => 100
 * // => 300
 * // => 700
 * console.log(clock.waiters()); // => 0
 * ```
 */
export function backoffUntil$<T>(
  fn: (signal: AbortSignal) => T | PromiseLike<T>,
  newManager: () => BackoffManager,
  sliding: boolean,
  options: LoopOptions = {},
): Observable<T> {
  requireFunction("fn", fn);
  requireFunction("newManager", newManager);
  requireBoolean("sliding", sliding);
  const { onError } = read("options", options, "backoffUntil$", LOOP_OPTIONS);
  return new Observable((subscriber) => {
    const stop = new AbortController();
    const run = async (signal: AbortSignal) => subscriber.next(await fn(signal));
    backoffUntil(run, newManager(), sliding, stop.signal, { onError }).then(
      () => subscriber.complete(),
      (error: unknown) => subscriber.error(error),
    );
    return () => stop.abort();
  });
}
