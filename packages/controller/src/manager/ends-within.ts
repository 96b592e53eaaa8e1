import type { Clock } from "@holdfast/clock";

/** Options for {@link endsWithin}. */
export interface EndsWithinOptions {
  readonly clock: Clock;
  /** Milliseconds, at least 0, or `Infinity`. */
  readonly timeout: number;
  readonly label: string;
}

/** Whether `work`, which never rejects, ends within the timeout. Work that has already ended does, for any timeout. */
export async function endsWithin(
  work: Promise<unknown>,
  { clock, timeout, label }: EndsWithinOptions,
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
