import { requireFunction, requireOptions } from "@holdfast/clock/internal";
import type { BackoffStrategy } from "./backoff-strategy.ts";
import { delaysFrom, growthState } from "./growth.ts";
import type { GrowthOptions } from "./growth-options.ts";
import { toMilliseconds, toNanoseconds } from "./nanoseconds.ts";
import { defaultRandom } from "./random.ts";

/**
 * Delays drawn below a bound that grows.
 *
 * @param share - what share of the bound a draw stands for
 */
export function drawnDelays(
  options: GrowthOptions,
  share: (draw: number) => number,
): BackoffStrategy {
  requireOptions("options", options);
  const { duration, factor = 2, steps, cap, random = defaultRandom } = options;
  requireFunction("options.random", random);
  const bounds = { duration, factor, steps, cap, capAfterJitter: true };
  const first = growthState("options", bounds);
  return {
    delayFunc: () => {
      const bound = delaysFrom(first);
      return () => toMilliseconds(Math.floor(share(random()) * toNanoseconds(bound())));
    },
  };
}
