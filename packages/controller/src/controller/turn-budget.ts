import { type Clock, realClock } from "@holdfast/clock";
import { yieldTurn } from "@holdfast/clock/internal";

const MAX_RECONCILES = 1_000;

/** In milliseconds. */
const MAX_BUSY = 10;

/**
 * Lets the event loop turn. Workers that find a key at once never leave the microtasks, and neither
 * timers nor signals of the process would get through.
 *
 * Time counts on `realClock` only. On a fake clock it passes when timers fire, which is a turn already;
 * a trace then depends on the number of reconciles alone.
 */
export class TurnBudget {
  readonly #clock: Clock;
  readonly #maxBusy: number;
  #reconciles = 0;
  #turnedAt: number;
  #settledAt: number;
  /** Shared by all workers: the loop turns only while none of them works on. */
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

  /** The turn to wait for before the next key; undefined while the budget lasts. */
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
