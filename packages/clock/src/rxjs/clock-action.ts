import { type SchedulerAction, Subscription } from "rxjs";
import type { Clock, Timer } from "../clock.ts";
import { Grid } from "../internal/grid.ts";

/** No delay is its period. */
const UNSCHEDULED = new Grid(0, Number.NaN);

/** A piece of work as rxjs schedules it: once, and again each time it says so. */
export class ClockAction<State> extends Subscription implements SchedulerAction<State> {
  readonly #clock: Clock;
  readonly #work: (this: SchedulerAction<State>, state?: State) => void;
  #state: State | undefined = undefined;
  #timer: Timer | undefined = undefined;
  /** `"working"` from the call of the work until it schedules itself, or else until it returns. */
  #phase: "resting" | "working" = "resting";
  /** When the work is due, which repeats itself if it asks for the same delay again. */
  #grid = UNSCHEDULED;

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
   * How long to wait. Work that asks for the same delay again goes on to the next point of its grid
   * that is not past, however late it was called; any other delay counts from now.
   */
  #aim(delay: number): number {
    const now = this.#clock.monotonic();
    if (this.#phase === "working" && delay === this.#grid.period && delay > 0)
      return this.#grid.next(now);
    this.#grid = new Grid(now, delay);
    return delay;
  }

  /** An endless delay is not armed at all: it would keep the process alive. */
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
