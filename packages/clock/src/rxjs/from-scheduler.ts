import { requireMethods } from "@holdfast/kit";
import type { SchedulerLike, Subscription } from "rxjs";
import type { Clock } from "../clock.ts";
import { type ClockHost, HostClock } from "../host/host-clock.ts";

/** A scheduler as a host of timers. It has one time, which may go back. */
class SchedulerHost implements ClockHost {
  /** `asyncScheduler` passes delays to `setInterval`. */
  readonly longest: number = 2 ** 31 - 1;
  readonly booksForever = false;
  readonly measuresTimers = true;
  readonly #scheduler: SchedulerLike;
  #latest: number;
  /** The total by which the scheduler has gone back. */
  #lost = 0;

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler;
    this.#latest = scheduler.now();
  }

  now(): number {
    return this.#scheduler.now();
  }

  monotonic(): number {
    const now = this.#scheduler.now();
    this.#lost += Math.max(this.#latest - now, 0);
    this.#latest = now;
    return now + this.#lost;
  }

  /** `asyncScheduler` truncates fractions, and may be 1 ms early as well. */
  set(wake: () => void, delay: number): Subscription {
    return this.#scheduler.schedule(() => wake(), Math.ceil(delay));
  }

  clear(action: Subscription): void {
    action.unsubscribe();
  }
}

/**
 * Turns a scheduler of rxjs into a {@link Clock}, so that marbles test code that takes a clock.
 *
 * Pass a `TestScheduler` or a `VirtualTimeScheduler`. Their flush is synchronous, so callbacks work and
 * promises do not: a `sleep` resolves, but the code that awaits it continues after the flush. Inside
 * `TestScheduler.run`, `fromScheduler(asyncScheduler)` follows the test as well.
 *
 * Do not pass `queueScheduler` or another scheduler that runs work inside `schedule`: a callback would
 * run before its timer exists.
 *
 * Delays are rounded up to whole milliseconds. `now()` is the scheduler's; `monotonic()` is the same, but
 * does not go back with it. The `ref` option has no effect. If a callback throws, a virtual scheduler
 * drops all scheduled work and throws the error from `flush()`.
 *
 * @param scheduler - provides the time and the timers
 * @returns a clock with the scheduler's time
 * @throws TypeError if `scheduler` is not a scheduler
 *
 * @example
 * ```ts
 * import { fromScheduler } from "@holdfast/clock/rxjs";
 * import { Observable } from "rxjs";
 * import { TestScheduler } from "rxjs/testing";
 *
 * const marbles = new TestScheduler((actual, expected) => {
 *   console.log(JSON.stringify(actual) === JSON.stringify(expected));
 * });
 * const clock = fromScheduler(marbles);
 *
 * marbles.run(({ expectObservable }) => {
 *   const rung = new Observable<string>((subscriber) => {
 *     const timer = clock.afterFunc(5, () => {
 *       subscriber.next("r");
 *       subscriber.complete();
 *     });
 *     return () => timer.stop();
 *   });
 *   expectObservable(rung).toBe("-----(r|)");
 * }); // => true
 * ```
 */
export function fromScheduler(scheduler: SchedulerLike): Clock {
  requireMethods("scheduler", scheduler, ["now", "schedule"]);
  return new HostClock(new SchedulerHost(scheduler));
}
