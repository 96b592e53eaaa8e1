import type { JitterForm } from "./capped-jitter.ts";
import type { Random } from "./random.ts";

/**
 * The shape of a growing delay: where it starts, how it grows and where growth ends.
 *
 * Delay number `n`, counted from 0, is
 *
 * ```text
 * base(0)     = duration
 * base(n + 1) = min(base(n) × factor, cap)       n stops rising after `steps` growths
 * delay(n)    = base(n) × (1 + jitter × random())  random() is in [0, 1)
 * ```
 *
 * | `n` | `{ duration: 100, factor: 2, cap: 1000 }` | the same with `jitter: 0.5` |
 * | --- | ----------------------------------------- | --------------------------- |
 * | 0   | 100                                       | 100 to 150                  |
 * | 1   | 200                                       | 200 to 300                  |
 * | 2   | 400                                       | 400 to 600                  |
 * | 3   | 800                                       | 800 to 1200                 |
 * | 4 … | 1000                                      | 1000 to 1500                |
 *
 * Every result is a whole number of nanoseconds, cut off as in Go, and at most 2^63 ns.
 */
export interface BackoffOptions {
  /**
   * The first delay, in milliseconds. Finite, at least 0. `cap` does not limit it without
   * `capAfterJitter`.
   */
  readonly duration: number;

  /**
   * What a delay is multiplied by to get the next. Finite, above 0; below 1 the delays shrink.
   *
   * @defaultValue none: the delay is constant and `cap` has no effect
   */
  readonly factor?: number | undefined;

  /**
   * Randomness of a delay: `0.2` adds up to 20 %, `"full"` draws from 0 to the delay, `"equal"` from
   * half of it to all of it; see {@link JitterForm}. Drawn anew for each delay; never accumulates.
   *
   * @defaultValue `0`, no randomness
   */
  readonly jitter?: JitterForm | undefined;

  /**
   * How many times the delay may grow. A whole number, at least 0, or `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly steps?: number | undefined;

  /**
   * The delay at which growth ends, in milliseconds, before jitter unless `capAfterJitter` is set.
   * Above 0, or `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly cap?: number | undefined;

  /**
   * Whether `cap` limits every delay with its jitter, the first delay included.
   *
   * Growth then ends at `cap / (1 + jitter)`, so that the last delays are still spread, from there
   * to the cap. Cutting them off at the cap would make them all equal.
   *
   * @defaultValue `false`, as in Kubernetes
   */
  readonly capAfterJitter?: boolean | undefined;

  /**
   * Draws the jitter.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}
