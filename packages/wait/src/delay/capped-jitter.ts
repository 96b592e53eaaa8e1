import { above, flag, func, type Kind, type Kinds, kind, requireAtLeast } from "@holdfast/kit";
import { spread } from "./jitter.ts";
import { LONGEST_NANOSECONDS, toNanoseconds, toNanosecondsWithin } from "./nanoseconds.ts";
import type { Random } from "./random.ts";

/**
 * The randomness of a delay `d`: a share, or one of two forms. All draws are uniform.
 *
 * | Value | Range of the delay |
 * | --- | --- |
 * | a number `j`, finite, at least 0 | `d` to `d × (1 + j)`, as in Kubernetes |
 * | `"full"` | 0 to `d` |
 * | `"equal"` | `d / 2` to `d` |
 */
export type JitterForm = number | "full" | "equal";

/** Limit and randomness of growing delays. */
export interface SpreadOptions {
  /**
   * Maximum delay in milliseconds, before jitter unless `capAfterJitter` is set. Above 0, or
   * `Infinity`. With `"full"` and `"equal"` no delay exceeds it.
   *
   * @defaultValue `Infinity`
   */
  readonly cap?: number | undefined;

  /**
   * Randomness of a delay; see {@link JitterForm}.
   *
   * @defaultValue `0`, no randomness
   */
  readonly jitter?: JitterForm | undefined;

  /**
   * Whether `cap` limits every delay with its jitter. Delays then grow to `cap / (1 + jitter)`, so
   * that the last delays are still spread, from there to the cap.
   *
   * @defaultValue `false`: a delay can reach `cap × (1 + jitter)`
   */
  readonly capAfterJitter?: boolean | undefined;

  /**
   * Source of randomness.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/** A {@link JitterForm}. */
export const jitterForm: Kind = kind("jitterForm", requireJitter);

export const SPREAD_OPTIONS: Kinds<SpreadOptions> = {
  cap: above(0),
  jitter: jitterForm,
  capAfterJitter: flag,
  random: func,
};

/** {@link SpreadOptions}, checked, in nanoseconds. */
export interface CappedJitter {
  /** Maximum delay before jitter. */
  readonly limit: number;
  /** Whether `limit` also holds for a first delay that is longer. */
  readonly limitsFirst: boolean;
  /** Applies the jitter to a delay that is at most `limit`. */
  readonly apply: (base: number) => number;
}

/** `options` are read and checked. */
export function cappedJitter(options: SpreadOptions, shared: Random): CappedJitter {
  const { cap = Number.POSITIVE_INFINITY, jitter = 0, capAfterJitter = false } = options;
  const { random = shared } = options;
  if (jitter === "full" || jitter === "equal") {
    const share = jitter === "full" ? random : () => 0.5 + random() / 2;
    const apply = (base: number): number => Math.floor(share() * base);
    return { limit: toNanosecondsWithin(cap), limitsFirst: true, apply };
  }
  const max = capAfterJitter ? toNanosecondsWithin(cap) : LONGEST_NANOSECONDS;
  const limit = capAfterJitter ? Math.floor(max / (1 + jitter)) : toNanoseconds(cap);
  const apply = (base: number): number => (jitter > 0 ? spread(base, jitter, random, max) : base);
  return { limit, limitsFirst: capAfterJitter, apply };
}

function requireJitter(name: string, jitter: JitterForm): void {
  if (jitter === "full" || jitter === "equal") return;
  if (typeof jitter === "string")
    throw new RangeError(
      `${name} must be a finite number of at least 0, "full" or "equal", got ${JSON.stringify(jitter)}`,
    );
  requireAtLeast(name, jitter, 0);
}
