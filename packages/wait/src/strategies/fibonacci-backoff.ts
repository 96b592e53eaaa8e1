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

const OPTIONS: OptionNames<FibonacciBackoffOptions> = {
  duration: true,
  ...SPREAD_OPTIONS,
};

/** Options for {@link FibonacciBackoff}. */
export interface FibonacciBackoffOptions extends SpreadOptions {
  /** First and second delay before jitter, in milliseconds. Finite, at least 0. */
  readonly duration: number;
}

/**
 * Delays that are the sum of the previous two. They grow slowly at first, then by the golden ratio,
 * 1.618.
 *
 * Delay number `n`, from 0, is `min(duration × F(n + 1), cap)` with jitter, where `F` is 1, 1, 2, 3,
 * 5, 8 and so on.
 *
 * Source: the Fibonacci numbers; as a backoff, `FibonacciStrategy` of node-backoff.
 *
 * @example
 * ```ts
 * import { FibonacciBackoff } from "@holdfast/wait/strategies";
 *
 * const next = new FibonacciBackoff({ duration: 100, cap: 600 }).delayFunc();
 * console.log(next(), next(), next(), next(), next(), next()); // => 100 100 200 300 500 600
 * ```
 */
export class FibonacciBackoff implements BackoffStrategy {
  readonly #jitter: CappedJitter;
  readonly #first: number;

  /**
   * @param options - see {@link FibonacciBackoffOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: FibonacciBackoffOptions) {
    requireShapeOptions("options", options, "FibonacciBackoff", OPTIONS);
    const { duration, jitter, cap, capAfterJitter, random } = options;
    requireAtLeast("options.duration", duration, 0);
    this.#jitter = cappedJitter("options", { jitter, cap, capAfterJitter, random }, defaultRandom);
    this.#first = Math.min(toNanoseconds(duration), this.#jitter.limit);
  }

  /**
   * Starts a new sequence at the first delay.
   *
   * @returns a function that returns milliseconds
   */
  delayFunc(): DelayFunc {
    let next = this.#first;
    let after = this.#first;
    return () => {
      const base = next;
      next = after;
      after = Math.min(base + after, this.#jitter.limit);
      return toMilliseconds(this.#jitter.apply(base));
    };
  }
}
