import {
  requireBoolean,
  requireFunction,
  requireHooks,
  requireOptions,
} from "@holdfast/clock/internal";
import { Observable } from "rxjs";
import type { BackoffManager } from "../loop/backoff-manager.ts";
import { backoffUntil } from "../loop/backoff-until.ts";
import type { LoopOptions } from "../loop/loop-options.ts";

/**
 * `backoffUntil` as a stream: emits what each call of `fn` returns, and unsubscribing is the abort.
 *
 * Each subscription is a loop of its own, with its own manager. The first call comes while it is
 * subscribed to; calls never overlap.
 *
 * | What happens | What the stream does |
 * | --- | --- |
 * | `fn` returns or resolves | emits the value, waits, calls `fn` again |
 * | `fn` throws or rejects, `onError` is given | hands the error over, goes on after the delay |
 * | `fn` throws or rejects otherwise | fails with that very error, leaving no timer |
 * | it is unsubscribed from during a delay | stops the timer at once |
 * | it is unsubscribed from during `fn` | aborts the signal of `fn`, emits nothing any more |
 * | somebody else stops the timer of the manager | completes: no further call could come |
 *
 * As everywhere in rxjs, nobody is subscribed any more who could be told of an error after the
 * unsubscription; `config.onStoppedNotification` gets it.
 *
 * @param fn - the work. It receives a signal and should give up soon after it aborts
 * @param newManager - makes the manager of a subscription, which decides each delay
 * @param sliding - when a delay starts counting: true after `fn` has settled, false when it is
 * called. With false, an `fn` that outlasts its delay is followed by the next call at once; missed
 * ones are not made up for
 * @param options - see `LoopOptions`
 * @returns an Observable that does nothing until it is subscribed to. It runs on promises, so
 * `FakeClock` drives it and marbles do not
 * @throws TypeError if an argument is of the wrong type
 *
 * Source: `BackoffUntil` of k8s.io/apimachinery/pkg/util/wait, as `backoffUntil` has it.
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
  requireOptions("options", options);
  const { onError } = options;
  requireHooks("options", options, ["onError"]);
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
