import {
  requireAbove,
  requireAtLeast,
  requireBoolean,
  requireFunction,
} from "@holdfast/clock/internal";
import {
  LONGEST_NANOSECONDS,
  toMilliseconds,
  toNanoseconds,
  toNanosecondsWithin,
} from "./nanoseconds.ts";
import { defaultRandom, type Random } from "./random.ts";
import { spread } from "./spread.ts";
import type { SpreadOptions } from "./spread-options.ts";

/** How far delays go, and how chance spreads them: {@link SpreadOptions}, checked, in nanoseconds. */
export interface CappedJitter {
  /** The longest delay before jitter. */
  readonly limit: number;
  readonly jitter: number;
  readonly random: Random;
  /** The longest delay with its jitter. */
  readonly most: number;
}

export function cappedJitter(name: string, options: SpreadOptions): CappedJitter {
  const {
    cap = Number.POSITIVE_INFINITY,
    jitter = 0,
    capAfterJitter = false,
    random = defaultRandom,
  } = options;
  requireAtLeast(`${name}.jitter`, jitter, 0);
  requireAbove(`${name}.cap`, cap, 0);
  requireBoolean(`${name}.capAfterJitter`, capAfterJitter);
  requireFunction(`${name}.random`, random);
  const most = capAfterJitter ? toNanosecondsWithin(cap) : LONGEST_NANOSECONDS;
  const limit = capAfterJitter ? Math.floor(most / (1 + jitter)) : toNanoseconds(cap);
  return { limit, jitter, random, most };
}

/** A delay in milliseconds from one in nanoseconds that is at most the limit. */
export function jittered(base: number, { jitter, random, most }: CappedJitter): number {
  return toMilliseconds(jitter > 0 ? spread(base, jitter, random, most) : base);
}
