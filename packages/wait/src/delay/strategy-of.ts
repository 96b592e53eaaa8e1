import { requireMethods, requireOptions } from "@holdfast/kit";
import type { BackoffOptions } from "./backoff-options.ts";
import type { BackoffStrategy } from "./backoff-strategy.ts";
import { delaysFrom, growthState } from "./growth.ts";
import type { Random } from "./random.ts";

/**
 * Resolves a `backoff` option, for functions of your own that take one: a strategy, or the options of a `Backoff`.
 *
 * @param name - the name of the option in errors
 * @param backoff - the value of the option
 * @param random - source of jitter of options that have none. Default: `Math.random`
 * @returns the strategy itself, or one whose delays grow as the options say
 * @throws RangeError or TypeError if an option is out of its range
 *
 * @example
 * ```ts
 * import { strategyOf } from "@holdfast/wait/strategies";
 *
 * const next = strategyOf("options.backoff", { duration: 100, factor: 2 }).delayFunc();
 * console.log([next(), next(), next()]); // => [ 100, 200, 400 ]
 * ```
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
