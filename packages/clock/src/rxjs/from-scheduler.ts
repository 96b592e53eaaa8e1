import type { SchedulerLike, Subscription } from "rxjs";
import type { Clock } from "../clock.ts";
import { HostClock } from "../host/host-clock.ts";
import type { TimerHost } from "../host/host-timer.ts";
import { requireMethods } from "../internal/arguments.ts";

/** A scheduler as a host of timers. It knows one time only, and that one may go back. */
class SchedulerHost implements TimerHost {
  /** `asyncScheduler` hands delays to `setInterval`. */
  readonly longest: number = 2 ** 31 - 1;
  readonly booksForever = false;
  readonly #scheduler: SchedulerLike;
  #latest: number;
  /** How far the scheduler has gone back, all in all. */
  #lost = 0;

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler;
    this.#latest = scheduler.now();
  }

  monotonic(): number {
    const now = this.#scheduler.now();
    this.#lost += Math.max(this.#latest - now, 0);
    this.#latest = now;
    return now + this.#lost;
  }

  /** `asyncScheduler` cuts fractions off, and may be 1 ms early besides. */
  set(wake: () => void, delay: number): Subscription {
    return this.#scheduler.schedule(() => wake(), Math.ceil(delay));
  }

  clear(action: Subscription): void {
    action.unsubscribe();
  }
}

class SchedulerClock extends HostClock {
  readonly #scheduler: SchedulerLike;

  constructor(scheduler: SchedulerLike) {
    super(new SchedulerHost(scheduler));
    this.#scheduler = scheduler;
  }

  override now(): number {
    return this.#scheduler.now();
  }
}

/**
 * Makes a scheduler of rxjs a {@link Clock}, so that marbles drive code that takes a clock.
 *
 * Give it a `TestScheduler` or a `VirtualTimeScheduler`. A flush of these is synchronous, so
 * callbacks work there and promises do not: a `sleep` resolves, but what awaits it goes on after the
 * flush. Inside `TestScheduler.run`, `fromScheduler(asyncScheduler)` is driven as well.
 *
 * `queueScheduler`, and any other that runs work while it is being scheduled, does not make a clock:
 * a callback would be called before its timer is there.
 *
 * Delays are rounded up to whole milliseconds. `now()` is the scheduler's; `monotonic()` is the
 * same, but goes on from where it was if the scheduler goes back. The `ref` option has no effect.
 * What a callback throws is the scheduler's: a virtual one drops everything scheduled and throws it
 * from `flush()`.
 *
 * @param scheduler - keeps the time and the timers
 * @returns a clock of the same time
 * @throws TypeError if `scheduler` is no scheduler
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
  return new SchedulerClock(scheduler);
}
