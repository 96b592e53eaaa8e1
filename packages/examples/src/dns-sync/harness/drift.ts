import type { PassiveClock } from "@holdfast/clock";

/** Samples in the history. */
const LENGTH = 240;

/** A period with at least one difference at every sample. */
export interface Episode {
  /** Milliseconds. */
  readonly duration: number;
  /** Maximum number of differences at once. */
  readonly most: number;
}

/** The number of differences over time. */
export class Drift {
  readonly #clock: PassiveClock;
  /** Monotonic start of each difference in milliseconds. */
  readonly #since = new Map<string, number>();
  #history: readonly number[] = [];
  #longest = 0;
  #episode: { readonly since: number; most: number } | undefined;

  constructor(clock: PassiveClock) {
    this.#clock = clock;
  }

  get now(): number {
    return this.#since.size;
  }

  /** Number of differences per sample, newest last. */
  get history(): readonly number[] {
    return this.#history;
  }

  /** Longest difference of one name in milliseconds. */
  get longest(): number {
    return this.#longest;
  }

  /** @returns the episode ended by this sample; undefined if none ended */
  sample(differences: readonly string[]): Episode | undefined {
    const now = this.#clock.monotonic();
    const current = new Set(differences);
    for (const key of current) if (!this.#since.has(key)) this.#since.set(key, now);
    for (const [key, since] of this.#since) {
      this.#longest = Math.max(this.#longest, now - since);
      if (!current.has(key)) this.#since.delete(key);
    }
    const count = this.#since.size;
    this.#history = [...this.#history, count].slice(-LENGTH);
    return this.#follow(count, now);
  }

  #follow(count: number, now: number): Episode | undefined {
    if (count > 0) {
      this.#episode ??= { since: now, most: 0 };
      this.#episode.most = Math.max(this.#episode.most, count);
      return undefined;
    }
    const ended = this.#episode;
    this.#episode = undefined;
    return ended && { duration: now - ended.since, most: ended.most };
  }
}
