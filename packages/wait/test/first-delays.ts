import type { BackoffStrategy, DelayFunc } from "@holdfast/wait";

/** The first `count` delays of a strategy, or the next `count` of a sequence. */
export function firstDelays(count: number, source: BackoffStrategy | DelayFunc): number[] {
  const next = typeof source === "function" ? source : source.delayFunc();
  return Array.from({ length: count }, next);
}
