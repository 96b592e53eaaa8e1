import {
  requireAbove,
  requireAtLeast,
  requireBoolean,
  requireFunction,
} from "@holdfast/clock/internal";
import { spread } from "./jitter.ts";
import {
  LONGEST_NANOSECONDS,
  toMilliseconds,
  toNanoseconds,
  toNanosecondsWithin,
} from "./nanoseconds.ts";
import { defaultRandom, type Random } from "./random.ts";

/** How far delays go, and how chance spreads them. */
export interface SpreadOptions {
  /**
   * The longest delay, in milliseconds, before jitter unless `capAfterJitter` is set. Above 0, or
   * `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly cap?: number | undefined;

  /**
   * The largest share of a delay that may be added to it at random. Finite, at least 0.
   *
   * @defaultValue `0`, no randomness
   */
  readonly jitter?: number | undefined;

  /**
   * Whether `cap` limits every delay with its jitter. Delays then grow to `cap / (1 + jitter)`, so
   * that the last are still spread, from there to the cap.
   *
   * @defaultValue `false`: a delay can reach `cap × (1 + jitter)`
   */
  readonly capAfterJitter?: boolean | undefined;

  /**
   * Draws the jitter.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/** What {@link SpreadOptions} say, checked, in nanoseconds. */
export class Spread {
  /** The longest delay before jitter. */
  readonly limit: number;
  readonly #most: number;
  readonly #share: number;
  readonly #random: Random;

  constructor(options: SpreadOptions) {
    const {
      cap = Number.POSITIVE_INFINITY,
      jitter = 0,
      capAfterJitter = false,
      random = defaultRandom,
    } = options;
    requireAbove("options.cap", cap, 0);
    requireAtLeast("options.jitter", jitter, 0);
    requireBoolean("options.capAfterJitter", capAfterJitter);
    requireFunction("options.random", random);
    this.#most = capAfterJitter ? toNanosecondsWithin(cap) : LONGEST_NANOSECONDS;
    this.limit = capAfterJitter ? Math.floor(this.#most / (1 + jitter)) : toNanoseconds(cap);
    this.#share = jitter;
    this.#random = random;
  }

  /** A delay in milliseconds from one in nanoseconds that is at most the limit. */
  over(base: number): number {
    if (this.#share === 0) return toMilliseconds(base);
    return toMilliseconds(spread(base, this.#share, this.#random, this.#most));
  }
}
