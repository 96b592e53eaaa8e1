import type { Random } from "../delay/random.ts";

/** Where delays start, how they grow and where growth ends, for shapes that draw all or half of them. */
export interface GrowthOptions {
  /** The first delay before the draw, in milliseconds. Finite, at least 0. */
  readonly duration: number;

  /**
   * What a delay is multiplied by to get the next, before the draw. Finite, above 0.
   *
   * @defaultValue `2`
   */
  readonly factor?: number | undefined;

  /**
   * How many times the delay may grow. A whole number, at least 0, or `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly steps?: number | undefined;

  /**
   * The longest delay, in milliseconds; no draw exceeds it. Above 0, or `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly cap?: number | undefined;

  /**
   * Draws the delays.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}
