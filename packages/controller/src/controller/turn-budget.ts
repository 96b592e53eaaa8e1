import { type Clock, realClock } from "@holdfast/clock";
import { yieldTurn } from "@holdfast/clock/internal";

const MAX_RECONCILES = 1_000;

/** In milliseconds. */
const MAX_BUSY = 10;

/**
 * Lets the event loop turn. Workers that always find a key never leave the microtask queue, so timers
 * and process signals would starve.
 *
 * Time counts on `realClock` only. On a fake clock, time passes only when timers fire, which is already
 * a turn; a trace then depends on the number of reconciles alone.
 */
export class TurnBudget {
  readonly #clock: Clock;
  readonly #maxBusy: number;
  #reconciles = 0;
  #turnedAt: number;
  #settledAt: number;
  /** Shared by all workers: the loop turns only while none of them continues. */
  #turn: Promise<void> | undefined = undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#maxBusy = clock === realClock ? MAX_BUSY : Number.POSITIVE_INFINITY;
    this.#turnedAt = clock.monotonic();
    this.#settledAt = this.#turnedAt;
  }

  /** Counts a reconcile that has settled at `now`. */
  spend(now: number): void {
    this.#reconciles++;
    this.#settledAt = now;
  }

  /** The turn to await before the next key; undefined while the budget lasts. */
  get turn(): Promise<void> | undefined {
    const isSpent =
      this.#reconciles >= MAX_RECONCILES || this.#settledAt - this.#turnedAt >= this.#maxBusy;
    if (isSpent) this.#turn ??= this.#yield();
    return this.#turn;
  }

  async #yield(): Promise<void> {
    await yieldTurn(this.#clock);
    this.#turn = undefined;
    this.#reconciles = 0;
    this.#turnedAt = this.#clock.monotonic();
  }
}
