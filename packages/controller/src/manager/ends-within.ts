import type { Clock } from "@holdfast/clock";

/** How long to wait, and by which clock. */
export interface Limit {
  readonly clock: Clock;
  /** Milliseconds, at least 0, or `Infinity`. */
  readonly timeout: number;
  readonly label: string;
}

/** Whether `work`, which never rejects, ends in time. Leaves no timer. */
export async function endsWithin(
  work: Promise<unknown>,
  { clock, timeout, label }: Limit,
): Promise<boolean> {
  if (timeout === Number.POSITIVE_INFINITY) {
    await work;
    return true;
  }
  return new Promise((resolve) => {
    const timer = clock.afterFunc(timeout, () => resolve(false), { label });
    void work.then(() => {
      timer.stop();
      resolve(true);
    });
  });
}
