import type { JitterForm } from "./capped-jitter.ts";
import type { Random } from "./random.ts";

/**
 * Options for {@link Backoff}, and for the `backoff` option of every loop: the first delay, its growth
 * and its jitter.
 *
 * Delay number `n`, from 0:
 *
 * ```text
 * base(0)     = duration
 * base(n + 1) = min(base(n) × factor, cap)         at most `steps` growths
 * delay(n)    = base(n) × (1 + jitter × random())  jitter is a number
 *               base(n) × random()                 jitter is "full"
 *               base(n) × (1 + random()) / 2       jitter is "equal"
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
 * Every delay is a whole number of nanoseconds, rounded down as in Go, and at most 2^63 ns.
 */
export interface BackoffOptions {
  /**
   * First delay in milliseconds. Finite, at least 0. `cap` limits it only with `capAfterJitter`,
   * `"full"` or `"equal"` jitter.
   */
  readonly duration: number;

  /**
   * Growth of the delay: each base is `factor` times the previous one. Finite, above 0; below 1 the
   * delays shrink.
   *
   * @defaultValue none: every base is the first delay
   */
  readonly factor?: number | undefined;

  /**
   * Randomness of a delay: `0.2` adds up to 20 %, `"full"` draws from 0 to the delay, `"equal"` from
   * half of it to all of it; see {@link JitterForm}. Each delay has its own draw; jitter never
   * accumulates.
   *
   * @defaultValue `0`, no randomness
   */
  readonly jitter?: JitterForm | undefined;

  /**
   * Maximum number of growths. A whole number, at least 0, or `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly steps?: number | undefined;

  /**
   * Delay at which growth ends, in milliseconds, before jitter unless `capAfterJitter` is set. Above 0,
   * or `Infinity`. With `"full"` and `"equal"` jitter no delay exceeds it. Once reached, the delay no
   * longer changes, even with a `factor` below 1.
   *
   * @defaultValue `Infinity`
   */
  readonly cap?: number | undefined;

  /**
   * Whether `cap` limits every delay with its jitter, the first delay included.
   *
   * Growth then ends at `cap / (1 + jitter)`, so that the last delays are still spread, from there
   * to the cap. Limiting the jittered delay itself would make them all equal.
   *
   * @defaultValue `false`, as in Kubernetes
   */
  readonly capAfterJitter?: boolean | undefined;

  /**
   * Source of randomness.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}
