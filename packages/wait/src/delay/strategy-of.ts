import { requireMethods, requireOptions } from "@holdfast/clock/internal";
import type { BackoffOptions } from "./backoff-options.ts";
import type { BackoffStrategy } from "./backoff-strategy.ts";
import { delaysFrom, growthState } from "./growth.ts";
import type { Random } from "./random.ts";

/**
 * Resolves a `backoff` option: a strategy, or the options of a {@link Backoff}.
 *
 * @param random - source of jitter of options that have none
 */
export function strategyOf(
  name: string,
  backoff: BackoffStrategy | BackoffOptions,
  random?: Random,
): BackoffStrategy {
  requireOptions(name, backoff);
  if ("delayFunc" in backoff) {
    requireMethods(name, backoff, ["delayFunc"]);
    return backoff;
  }
  const first = growthState(name, backoff, random);
  return { delayFunc: () => delaysFrom(first) };
}
