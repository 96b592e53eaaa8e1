import type { Random } from "../delay/random.ts";

/** Options for {@link FullJitterBackoff} and {@link EqualJitterBackoff}. */
export interface GrowthOptions {
  /** First delay before jitter, in milliseconds. Finite, at least 0. */
  readonly duration: number;

  /**
   * Growth of the delay before jitter: each is `factor` times the previous one. Finite, above 0.
   *
   * @defaultValue `2`
   */
  readonly factor?: number | undefined;

  /**
   * Maximum number of growths. A whole number, at least 0, or `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly steps?: number | undefined;

  /**
   * Maximum delay in milliseconds; no delay exceeds it. Above 0, or `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly cap?: number | undefined;

  /**
   * Source of randomness.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}
