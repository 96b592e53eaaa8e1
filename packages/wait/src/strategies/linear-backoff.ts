import { type OptionNames, requireAtLeast } from "@holdfast/clock/internal";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import {
  type CappedJitter,
  cappedJitter,
  SPREAD_OPTIONS,
  type SpreadOptions,
} from "../delay/capped-jitter.ts";
import { toMilliseconds, toNanoseconds } from "../delay/nanoseconds.ts";
import { defaultRandom } from "../delay/random.ts";
import { requireShapeOptions } from "../delay/shape-options.ts";

const OPTIONS: OptionNames<LinearBackoffOptions> = {
  duration: true,
  increment: true,
  ...SPREAD_OPTIONS,
};

/** Options for {@link LinearBackoff}. */
export interface LinearBackoffOptions extends SpreadOptions {
  /** First delay before jitter, in milliseconds. Finite, at least 0. */
  readonly duration: number;

  /**
   * Growth of the delay before jitter, in milliseconds: each is `increment` longer than the previous
   * one. Finite, at least 0.
   *
   * @defaultValue `duration`
   */
  readonly increment?: number | undefined;
}

/**
 * Delays that grow by a constant amount.
 *
 * Delay number `n`, from 0, is `min(duration + n × increment, cap)` with jitter.
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
  readonly #jitter: CappedJitter;
  readonly #first: number;
  readonly #increment: number;

  /**
   * @param options - see {@link LinearBackoffOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: LinearBackoffOptions) {
    requireShapeOptions("options", options, "LinearBackoff", OPTIONS);
    const { duration, increment = duration, jitter, cap, capAfterJitter, random } = options;
    requireAtLeast("options.duration", duration, 0);
    requireAtLeast("options.increment", increment, 0);
    this.#jitter = cappedJitter("options", { jitter, cap, capAfterJitter, random }, defaultRandom);
    this.#first = Math.min(toNanoseconds(duration), this.#jitter.limit);
    this.#increment = toNanoseconds(increment);
  }

  /**
   * Starts a new sequence at the first delay.
   *
   * @returns a function that returns milliseconds
   */
  delayFunc(): DelayFunc {
    let next = this.#first;
    return () => {
      const base = next;
      next = Math.min(base + this.#increment, this.#jitter.limit);
      return toMilliseconds(this.#jitter.apply(base));
    };
  }
}
