import { requireAtLeast, requireOptions } from "@holdfast/clock/internal";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import { type CappedJitter, cappedJitter, type SpreadOptions } from "../delay/capped-jitter.ts";
import { toMilliseconds, toNanoseconds } from "../delay/nanoseconds.ts";

/** The delays of a {@link LinearBackoff}. */
export interface LinearBackoffOptions extends SpreadOptions {
  /** The first delay before jitter, in milliseconds. Finite, at least 0. */
  readonly duration: number;

  /**
   * What is added to a delay to get the next, in milliseconds. Finite, at least 0.
   *
   * @defaultValue `duration`
   */
  readonly increment?: number | undefined;
}

/**
 * Delays that grow by the same amount each time.
 *
 * Delay number `n`, counted from 0, is `min(duration + n × increment, cap)` and its jitter.
 *
 * Source: an arithmetic progression.
 *
 * @example
 * ```ts
 * import { LinearBackoff } from "@holdfast/wait/strategies";
 *
 * const next = new LinearBackoff({ duration: 1_000, increment: 500, cap: 2_200 }).delayFunc();
 * console.log(next(), next(), next(), next()); // => 1000 1500 2000 2200
 * ```
 */
export class LinearBackoff implements BackoffStrategy {
  readonly #options: LinearBackoffOptions;
  readonly #jitter: CappedJitter;
  readonly #increment: number;
  // Begins as a number, which is stored as one: no step allocates.
  #base = 0;

  /**
   * @param options - see {@link LinearBackoffOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: LinearBackoffOptions) {
    requireOptions("options", options);
    const { duration, increment = duration, jitter, cap, capAfterJitter, random } = options;
    requireAtLeast("options.duration", duration, 0);
    requireAtLeast("options.increment", increment, 0);
    this.#options = { duration, increment, jitter, cap, capAfterJitter, random };
    this.#jitter = cappedJitter("options", options);
    this.#increment = toNanoseconds(increment);
    this.#base = Math.min(toNanoseconds(duration), this.#jitter.limit);
  }

  /**
   * A fresh sequence of delays from the first on.
   *
   * @returns a function that returns milliseconds
   */
  delayFunc(): DelayFunc {
    const fresh = new LinearBackoff(this.#options);
    return () => fresh.#step();
  }

  #step(): number {
    const base = this.#base;
    this.#base = Math.min(base + this.#increment, this.#jitter.limit);
    return toMilliseconds(this.#jitter.apply(base));
  }
}
