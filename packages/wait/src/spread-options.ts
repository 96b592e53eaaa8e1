import type { Random } from "./random.ts";

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
