import { requireAtLeast, requireOptions } from "@holdfast/clock/internal";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import { type CappedJitter, cappedJitter, type SpreadOptions } from "../delay/capped-jitter.ts";
import { toMilliseconds, toNanoseconds } from "../delay/nanoseconds.ts";

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
 * Source: the Fibonacci numbers; as a back-off, `FibonacciStrategy` of node-backoff.
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
  readonly #options: FibonacciBackoffOptions;
  readonly #jitter: CappedJitter;
  // Initialized with numbers, so that engines store them unboxed and no step allocates.
  #next = 0;
  #after = 0;

  /**
   * @param options - see {@link FibonacciBackoffOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: FibonacciBackoffOptions) {
    requireOptions("options", options);
    const { duration, jitter, cap, capAfterJitter, random } = options;
    requireAtLeast("options.duration", duration, 0);
    this.#options = { duration, jitter, cap, capAfterJitter, random };
    this.#jitter = cappedJitter("options", options);
    this.#next = Math.min(toNanoseconds(duration), this.#jitter.limit);
    this.#after = this.#next;
  }

  /**
   * Starts a new sequence at the first delay.
   *
   * @returns a function that returns milliseconds
   */
  delayFunc(): DelayFunc {
    const fresh = new FibonacciBackoff(this.#options);
    return () => fresh.#step();
  }

  #step(): number {
    const base = this.#next;
    this.#next = this.#after;
    this.#after = Math.min(base + this.#after, this.#jitter.limit);
    return toMilliseconds(this.#jitter.apply(base));
  }
}
