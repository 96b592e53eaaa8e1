/** CPU time of this process from a call to the next, all threads, in nanoseconds. */
export function stopwatch() {
  let last = process.cpuUsage();
  return () => {
    const spent = process.cpuUsage(last);
    last = process.cpuUsage();
    return (spent.user + spent.system) * 1_000;
  };
}

/** What is live on the heap and in array buffers, garbage excluded, in bytes. */
export function liveBytes() {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/**
 * Repeats a sample until both a number of samples and a time are reached; the first fifth warms up.
 * Returns best and median of each figure that a sample returns.
 */
export async function repeat(sample, { samples, milliseconds }) {
  const figures = new Map();
  const began = performance.now();
  const wanted = () => performance.now() - began < milliseconds;
  const warmups = samples > 1 ? Math.ceil(samples / 5) : 0;
  for (let i = 0; i < samples + warmups || (samples > 1 && wanted()); i++) {
    const measured = Object.entries(await sample());
    if (i < warmups) continue;
    for (const [name, value] of measured) figures.set(name, [...(figures.get(name) ?? []), value]);
  }
  return Object.fromEntries(
    [...figures].map(([name, values]) => [
      name,
      { best: Math.min(...values), p50: median(values) },
    ]),
  );
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The same random numbers below `limit` in every process. */
export function randomInts(count, limit) {
  let state = 0x9e3779b9;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return Math.floor(((state >>> 0) / 2 ** 32) * limit);
  });
}
