import type { Clock, Timer } from "@holdfast/clock";

/** How often to look, in milliseconds. */
const PERIOD = 50;

/** For how long a standstill is remembered, in milliseconds. */
const MEMORY = 60_000;

/** Knows for how long the event loop stood still: by so much a timer comes late. */
export class Standstill implements Disposable {
  readonly #clock: Clock;
  readonly #timer: Timer;
  /** When a timer came late and by how much, oldest first. */
  #late: { readonly at: number; readonly by: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#timer = clock.afterFunc(PERIOD, () => this.#look(), { ref: false, label: "standstill" });
  }

  /** The longest one that ended after an instant, or has not ended yet, in milliseconds. */
  since(instant: number): number {
    const ended = this.#late.filter(({ at }) => at >= instant).map(({ by }) => by);
    return Math.max(0, this.#lateness, ...ended);
  }

  [Symbol.dispose](): void {
    this.#timer.stop();
  }

  get #lateness(): number {
    return this.#clock.monotonic() - this.#timer.deadline;
  }

  #look(): void {
    const at = this.#clock.monotonic();
    const by = this.#lateness;
    this.#late = this.#late.filter((each) => each.at >= at - MEMORY);
    if (by >= 1) this.#late.push({ at, by });
    this.#timer.reset(PERIOD);
  }
}
