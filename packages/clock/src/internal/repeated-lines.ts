/** Equal lines are logged once in this time, in milliseconds. */
const INTERVAL = 60_000;

/** Most texts that are remembered: one that has a number of its own each time is not a repetition. */
const MAX_TEXTS = 100;

/** The part of a clock that is used. */
interface MonotonicClock {
  monotonic(): number;
}

/** Which lines about a failure to log: the first of a text, then one a minute with the number of them. */
export class RepeatedLines {
  readonly #clock: MonotonicClock;
  /** Texts, those that were logged longest ago first. */
  readonly #logged = new Map<string, { readonly at: number; unlogged: number }>();

  constructor(clock: MonotonicClock) {
    this.#clock = clock;
  }

  /**
   * Details for a line about a failure: none for the first one of its text, later the `count` since the last one that
   * was logged. Undefined if it is not worth a line.
   */
  detailsOf(text: string): { readonly count?: number } | undefined {
    const now = this.#clock.monotonic();
    const logged = this.#logged.get(text);
    if (logged !== undefined && now - logged.at < INTERVAL) {
      logged.unlogged++;
      return undefined;
    }
    this.#logged.delete(text);
    for (const [key, { at }] of this.#logged)
      if (now - at >= INTERVAL || this.#logged.size >= MAX_TEXTS) this.#logged.delete(key);
    this.#logged.set(text, { at: now, unlogged: 0 });
    return logged === undefined ? {} : { count: logged.unlogged + 1 };
  }
}
