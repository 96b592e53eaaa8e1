import { requireAtLeast, requirePositive, requireWhole } from "@holdfast/clock/internal";
import type { BackoffOptions } from "./backoff-options.ts";
import type { DelayFunc } from "./backoff-strategy.ts";
import { type CappedJitter, cappedJitter } from "./capped-jitter.ts";
import { NANOSECONDS_PER_MILLISECOND, toNanoseconds } from "./nanoseconds.ts";
import { defaultRandom, type Random } from "./random.ts";
import { spread } from "./spread.ts";

/** A copy, because V8 folds a constant of this module into the code, but looks an imported one up. */
const PER_MILLISECOND = NANOSECONDS_PER_MILLISECOND;

/** Where a growing delay stands and how it goes on: {@link BackoffOptions}, in nanoseconds. */
export interface GrowthState extends CappedJitter {
  /** The next delay before its jitter. */
  readonly base: number;
  /** How many times it may still grow. */
  readonly steps: number;
  readonly factor: number;
}

/** The beginning of what options describe, which are checked. */
export function growthState(name: string, options: BackoffOptions): GrowthState {
  const { duration, factor, steps = Number.POSITIVE_INFINITY, capAfterJitter } = options;
  requireAtLeast(`${name}.duration`, duration, 0);
  if (factor !== undefined) requirePositive(`${name}.factor`, factor);
  requireWhole(`${name}.steps`, steps, 0);
  const { limit, jitter, random, most } = cappedJitter(name, options);
  const first = toNanoseconds(duration);
  const base = capAfterJitter ? Math.min(first, limit) : first;
  const reach = factor === undefined ? base : limit;
  // Not by spreading one into the other: what that leaves behind would slow the steps down.
  return { base, steps, factor: factor ?? 1, limit: reach, jitter, random, most };
}

/** A delay that grows each time it is asked for: all of {@link Backoff} that a loop needs. */
export class Growth {
  // Each begins as a number: one that begins as `undefined` is never stored as a bare number, so that
  // every change of it allocates and a step costs twice as much.
  #base = 0;
  #steps = 0;
  #factor = 0;
  #limit = 0;
  #jitter = 0;
  #random: Random = defaultRandom;
  #most = 0;

  constructor(state: GrowthState) {
    ({
      base: this.#base,
      steps: this.#steps,
      factor: this.#factor,
      limit: this.#limit,
      jitter: this.#jitter,
      random: this.#random,
      most: this.#most,
    } = state);
  }

  /**
   * What another one can go on from.
   *
   * @internal
   */
  protected get state(): GrowthState {
    return {
      base: this.#base,
      steps: this.#steps,
      factor: this.#factor,
      limit: this.#limit,
      jitter: this.#jitter,
      random: this.#random,
      most: this.#most,
    };
  }

  /**
   * Returns the next delay and grows the one after it.
   *
   * @returns milliseconds
   */
  step(): number {
    const base = this.#base;
    if (this.#steps > 0) {
      const next = Math.floor(base * this.#factor);
      const ends = next > this.#limit;
      this.#base = ends ? this.#limit : next;
      this.#steps = ends ? 0 : this.#steps - 1;
    }
    return (
      (this.#jitter > 0 ? spread(base, this.#jitter, this.#random, this.#most) : base) /
      PER_MILLISECOND
    );
  }
}

/** A sequence of delays of its own, in milliseconds. */
export function delaysFrom(state: GrowthState): DelayFunc {
  const growth = new Growth(state);
  return () => growth.step();
}
