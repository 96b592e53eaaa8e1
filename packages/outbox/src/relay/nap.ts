import { type Clock, onAbort } from "@holdfast/clock";

/** A wait that can be cut short. One at a time. */
export class Nap {
  readonly #clock: Clock;
  #alarm = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the wait; if there is none, the next one is over at once. */
  wake(): void {
    this.#alarm.abort();
  }

  /**
   * Waits.
   *
   * @param duration - for how long at most, in milliseconds
   * @param signal - ends the wait too
   * @returns a promise that always resolves
   */
  async take(duration: number, signal: AbortSignal): Promise<void> {
    using _ = onAbort(signal, () => this.wake());
    // It rejects only because it was cut short.
    await this.#clock.sleep(duration, { signal: this.#alarm.signal }).catch(() => {});
    this.#alarm = new AbortController();
  }
}
