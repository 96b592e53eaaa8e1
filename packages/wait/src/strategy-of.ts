import { requireMethods, requireOptions } from "@holdfast/clock/internal";
import { Backoff, type BackoffOptions } from "./backoff.ts";
import type { BackoffStrategy } from "./backoff-strategy.ts";

/** The strategy that an option stands for, which holds one or the options of a {@link Backoff}. */
export function strategyOf(
  name: string,
  backoff: BackoffStrategy | BackoffOptions,
): BackoffStrategy {
  requireOptions(name, backoff);
  if (!("delayFunc" in backoff)) return new Backoff(backoff);
  requireMethods(name, backoff, ["delayFunc"]);
  return backoff;
}
