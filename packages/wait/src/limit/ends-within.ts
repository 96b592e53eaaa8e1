import { Deadline, type DeadlineOptions } from "./deadline.ts";

/**
 * Whether `work` ends within `timeout` milliseconds, where a timeout is no failure. It aborts the signal of the work. With
 * a timeout of 0 the work is not called.
 *
 * @returns a promise that rejects with an error of the work, and with the reason of `options.signal` when that aborts
 */
export async function endsWithin(
  work: (expired: AbortSignal) => PromiseLike<unknown>,
  timeout: number,
  options: Pick<DeadlineOptions, "clock" | "signal" | "label">,
): Promise<boolean> {
  const deadline = new Deadline(timeout, options);
  try {
    await deadline.wait(work, deadline.signal);
    return true;
  } catch (error) {
    if (deadline.isExpiry(error)) return false;
    throw error;
  }
}
