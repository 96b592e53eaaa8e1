import { cpuTime } from "./cpu-time.ts";

interface GrowthLimit {
  /** By how much the input grows. */
  readonly factor: number;
  /** What the cost may be multiplied by. */
  readonly limit: number;
}

/**
 * By how much the processor time of `work` grows when `n` becomes `factor` times as large. Above
 * the limit it is measured again, up to five times: a shared machine only ever adds to the cost.
 */
export function growth(
  work: (n: number) => void,
  n: number,
  { factor, limit }: GrowthLimit,
): number {
  work(n);
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 5 && least >= limit; tries++)
    least = Math.min(least, cpuTime(work, n * factor) / cpuTime(work, n));
  return least;
}
