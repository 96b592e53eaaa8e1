/** The processor time that `work` takes, in microseconds. */
function cpuTime(work: (n: number) => void, n: number): number {
  const start = process.cpuUsage();
  work(n);
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

/** The lowest of up to five measurements, or the first below `limit`: a shared machine only adds cost. */
function lowest(measure: () => number, limit: number): number {
  let result = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 5 && result >= limit; tries++) result = Math.min(result, measure());
  return result;
}

interface Rivals {
  readonly work: (n: number) => void;
  readonly rival: (n: number) => void;
}

/** The cost of `work` as a share of the cost of `rival` at the same size. */
export function costRatio({ work, rival }: Rivals, n: number, limit: number): number {
  return lowest(() => cpuTime(work, n) / cpuTime(rival, n), limit);
}

interface GrowthLimit {
  /** The factor by which the input grows. */
  readonly factor: number;
  /** The factor by which the cost may grow. */
  readonly limit: number;
}

/** The factor by which the cost of `work` grows when `n` becomes `factor` times as large. */
export function growth(
  work: (n: number) => void,
  n: number,
  { factor, limit }: GrowthLimit,
): number {
  work(n);
  return lowest(() => cpuTime(work, n * factor) / cpuTime(work, n), limit);
}
