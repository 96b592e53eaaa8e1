import type { PassiveClock } from "@holdfast/clock";

/** How long the history is, in samples. */
const LENGTH = 240;

/** The number of differences over time. */
export class Drift {
  readonly #clock: PassiveClock;
  /** Since when each difference has lasted, on the monotonic line. */
  readonly #since = new Map<string, number>();
  #history: readonly number[] = [];
  #longest = 0;
  #zeroSince: number | undefined;

  constructor(clock: PassiveClock) {
    this.#clock = clock;
  }

  get now(): number {
    return this.#since.size;
  }

  /** One count for each sample, the newest last. */
  get history(): readonly number[] {
    return this.#history;
  }

  /** The longest that a name differed, in milliseconds. */
  get longest(): number {
    return this.#longest;
  }

  /** How long there has been no difference, in milliseconds; undefined if there is one. */
  get zeroFor(): number | undefined {
    return this.#zeroSince && this.#clock.monotonic() - this.#zeroSince;
  }

  sample(differences: readonly string[]): void {
    const now = this.#clock.monotonic();
    const current = new Set(differences);
    for (const key of current) if (!this.#since.has(key)) this.#since.set(key, now);
    for (const [key, since] of this.#since) {
      this.#longest = Math.max(this.#longest, now - since);
      if (!current.has(key)) this.#since.delete(key);
    }
    if (this.#since.size > 0) this.#zeroSince = undefined;
    else this.#zeroSince ??= now;
    this.#history = [...this.#history, this.#since.size].slice(-LENGTH);
  }
}
