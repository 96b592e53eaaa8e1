import { Grid } from "@holdfast/kit";
import { type SchedulerAction, Subscription } from "rxjs";
import type { Clock, Timer } from "../clock.ts";

/** Work that rxjs schedules once, and again each time the work schedules itself. */
export class ClockAction<State> extends Subscription implements SchedulerAction<State> {
  readonly #clock: Clock;
  readonly #work: (this: SchedulerAction<State>, state?: State) => void;
  #state: State | undefined = undefined;
  #timer: Timer | undefined = undefined;
  /** `"working"` from the call of the work until it schedules itself, or else until it returns. */
  #phase: "resting" | "working" = "resting";
  /** The instants at which repeating work is due. */
  #grid: Grid | undefined = undefined;

  constructor(clock: Clock, work: (this: SchedulerAction<State>, state?: State) => void) {
    super();
    this.#clock = clock;
    this.#work = work;
  }

  schedule(state?: State, delay = 0): Subscription {
    if (this.closed) return this;
    this.#state = state;
    this.#arm(this.#aim(delay));
    this.#phase = "resting";
    return this;
  }

  override unsubscribe(): void {
    this.#timer?.stop();
    super.unsubscribe();
  }

  /**
   * The milliseconds to wait. Work that schedules itself with the same delay moves to the next point of
   * its grid that is not in the past; any other delay counts from now.
   */
  #aim(delay: number): number {
    if (this.#phase === "working" && delay === this.#grid?.period && delay > 0)
      return this.#grid.next(this.#clock.monotonic());
    this.#grid = new Grid(this.#clock, delay);
    return delay;
  }

  /** Does not arm an infinite delay: it would keep the process alive. */
  #arm(delay: number): void {
    if (delay === Number.POSITIVE_INFINITY) this.#timer?.stop();
    else if (this.#timer === undefined) this.#timer = this.#clock.afterFunc(delay, this.#fire);
    else this.#timer.reset(delay);
  }

  readonly #fire = (): void => {
    this.#phase = "working";
    try {
      this.#work(this.#state);
    } catch (error) {
      this.unsubscribe();
      throw error;
    } finally {
      this.#phase = "resting";
    }
  };
}
