import type { Clock } from "@holdfast/clock";
import { type LoopClock, simulatedTime, yieldTurn } from "@holdfast/kit";

const MAX_STEPS = 1_000;

/** In milliseconds. */
const MAX_BUSY = 10;

/**
 * Lets the event loop turn. Workers that always find a key, and sources that always have an event, never leave the
 * microtask queue, so timers and process signals would starve.
 *
 * Time counts on every clock but simulated ones. There, time passes only when timers fire, which is already a turn; a
 * trace then depends on the number of steps alone.
 */
export class TurnBudget {
  readonly #clock: Clock;
  readonly #maxBusy: number;
  #steps = 0;
  #turnedAt: number;
  #settledAt: number;
  /** Shared by all workers: the loop turns only while none of them continues. */
  #turn: Promise<void> | undefined = undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    const isSimulated = (clock as LoopClock)[simulatedTime] === true;
    this.#maxBusy = isSimulated ? Number.POSITIVE_INFINITY : MAX_BUSY;
    this.#turnedAt = clock.monotonic();
    this.#settledAt = this.#turnedAt;
  }

  /** Counts a reconcile or an event that has settled at `now`. */
  spend(now: number): void {
    this.#steps++;
    this.#settledAt = now;
  }

  /** The turn to await before the next step; undefined while the budget lasts. */
  get turn(): Promise<void> | undefined {
    const isSpent = this.#steps >= MAX_STEPS || this.#settledAt - this.#turnedAt >= this.#maxBusy;
    if (isSpent) this.#turn ??= this.#yield();
    return this.#turn;
  }

  async #yield(): Promise<void> {
    await yieldTurn(this.#clock);
    this.#turn = undefined;
    this.#steps = 0;
    this.#turnedAt = this.#clock.monotonic();
  }
}
