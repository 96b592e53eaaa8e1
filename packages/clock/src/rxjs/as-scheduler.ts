import { requireFunction, requireMethods } from "@holdfast/kit";
import type { SchedulerAction, SchedulerLike, Subscription } from "rxjs";
import type { Clock } from "../clock.ts";
import { ClockAction } from "./clock-action.ts";

class ClockScheduler implements SchedulerLike {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  schedule<State>(
    work: (this: SchedulerAction<State>, state?: State) => void,
    delay = 0,
    state?: State,
  ): Subscription {
    requireFunction("work", work);
    return new ClockAction(this.#clock, work).schedule(state, delay);
  }
}

/**
 * Runs the operators of rxjs on a clock: `debounceTime(300, asScheduler(clock))`.
 *
 * Operators produce the same values at the same instants as on rxjs' own virtual time. On `FakeClock`
 * they need no marbles, and promises between operators work.
 *
 * | | `asyncScheduler` | this one |
 * | --- | --- | --- |
 * | repeated work (`interval`) | drifts | stays on `start + index × period`; missed points are skipped |
 * | fires early | up to 1 ms | never |
 * | more than 2^31-1 ms | fires after 1 ms | waits |
 * | `Infinity` | fires after 1 ms | never, and arms nothing |
 * | work that throws | ends all work of the same flush | ends this work; the clock reports the error |
 *
 * `now()` is the wall clock, as rxjs expects; due times follow `monotonic()`.
 *
 * @param clock - measures the delays: milliseconds; below 0 means 0, `NaN` throws a RangeError
 * @returns a scheduler
 * @throws TypeError if `clock` is not a clock
 *
 * @example
 * ```ts
 * import { asScheduler } from "@holdfast/clock/rxjs";
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { interval, take } from "rxjs";
 *
 * const clock = new FakeClock();
 * const start = clock.now();
 * const seen: number[] = [];
 * interval(60_000, asScheduler(clock)).pipe(take(3)).subscribe(() => seen.push(clock.now() - start));
 * await clock.step(3_600_000);
 * console.log(seen); // => [ 60000, 120000, 180000 ]
 * ```
 */
export function asScheduler(clock: Clock): SchedulerLike {
  requireMethods("clock", clock, ["now", "monotonic", "afterFunc"]);
  return new ClockScheduler(clock);
}
