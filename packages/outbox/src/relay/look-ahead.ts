import type { PassiveClock } from "@holdfast/clock";

/** How far a relay looks ahead, in milliseconds: some round trips to a database. */
const HORIZON = 50;

/** The maximum of messages that wait for a worker, in multiples of the workers. */
const MOST = 10;

/**
 * The number of messages that a relay claims in advance: as many as its workers end in 50 ms, from
 * one for each worker to ten. So a fast receiver needs few claims, and messages for a slow one wait in the
 * table, where other relays find them.
 */
export class LookAhead {
  readonly #clock: PassiveClock;
  readonly #workers: number;
  #limit: number;
  /** The start of the current measurement. */
  #since: number;
  #ended = 0;

  constructor({ clock, workers }: { readonly clock: PassiveClock; readonly workers: number }) {
    this.#clock = clock;
    this.#workers = workers;
    this.#limit = workers;
    this.#since = clock.monotonic();
  }

  /** The maximum number of messages that wait for a worker. */
  get limit(): number {
    return this.#limit;
  }

  /** An attempt has ended. */
  ended(): void {
    this.#ended++;
    if (this.#ended < this.#workers) return;
    const now = this.#clock.monotonic();
    const elapsed = Math.max(1, now - this.#since);
    const next = Math.ceil((this.#ended * HORIZON) / elapsed);
    this.#limit = Math.min(Math.max(next, this.#workers), MOST * this.#workers);
    this.#since = now;
    this.#ended = 0;
  }
}
