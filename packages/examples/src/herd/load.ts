import type { Outcome } from "./server.ts";

/** The calls of one interval, by outcome. */
export type Interval = Readonly<Record<Outcome, number>>;

/** Counts the calls that reach a server, interval by interval. */
export class Load {
  readonly #length: number;
  readonly #intervals: Record<Outcome, number>[] = [];

  /** @param length - of an interval, in milliseconds */
  constructor(length: number) {
    this.#length = length;
  }

  /** @param instant - milliseconds since counting began */
  count(instant: number, outcome: Outcome): void {
    const index = Math.floor(instant / this.#length);
    while (this.#intervals.length <= index)
      this.#intervals.push({ down: 0, refused: 0, accepted: 0 });
    const interval = this.#intervals[index];
    if (interval !== undefined) interval[outcome]++;
  }

  /** From the first to the last one with a call. */
  get intervals(): readonly Interval[] {
    return this.#intervals;
  }
}
