import { cpuTime } from "./cpu-time.ts";

interface Rivals {
  readonly work: (n: number) => void;
  readonly rival: (n: number) => void;
}

/**
 * What `work` costs as a share of what `rival` costs at the same size. Above the limit it is
 * measured again, up to five times: a shared machine only ever adds to the cost.
 */
export function costRatio({ work, rival }: Rivals, n: number, limit: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 5 && least >= limit; tries++)
    least = Math.min(least, cpuTime(work, n) / cpuTime(rival, n));
  return least;
}
