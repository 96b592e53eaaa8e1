import { requireAtLeast, requireOptions } from "@holdfast/clock/internal";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import { type CappedJitter, cappedJitter, type SpreadOptions } from "../delay/capped-jitter.ts";
import { toMilliseconds, toNanoseconds } from "../delay/nanoseconds.ts";

/** The delays of a {@link FibonacciBackoff}. */
export interface FibonacciBackoffOptions extends SpreadOptions {
  /** The first delay before jitter, and the second, in milliseconds. Finite, at least 0. */
  readonly duration: number;
}

/**
 * Delays that are each the sum of the two before: in the long run they grow by 1.618, the golden
 * ratio, and at first more gently.
 *
 * Delay number `n`, counted from 0, is `min(duration × F(n + 1), cap)` and its jitter, where `F` is
 * 1, 1, 2, 3, 5, 8 and so on.
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
  // Each begins as a number, which is stored as one: no step allocates.
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
   * A fresh sequence of delays from the first on.
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
