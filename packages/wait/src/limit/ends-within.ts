import { abortSignal, anything, type Kinds, loopClock, read, requireFunction } from "@holdfast/kit";
import { Deadline, type DeadlineOptions } from "./deadline.ts";

/** Options for {@link endsWithin}. */
export type EndsWithinOptions = Pick<DeadlineOptions, "clock" | "signal" | "label">;

export const ENDS_WITHIN_OPTIONS: Kinds<EndsWithinOptions> = {
  clock: loopClock,
  signal: abortSignal,
  label: anything,
};

/**
 * Waits for work where a timeout is an answer and no failure, such as a graceful stop.
 *
 * @param work - gets a signal that aborts at the timeout; not called with a timeout of 0
 * @param timeout - milliseconds, at least 0, or `Infinity`
 * @param options - see {@link EndsWithinOptions}
 * @returns whether the work has ended in time. Rejects with an error of the work, and with `signal.reason` when
 * `options.signal` aborts
 * @throws RangeError or TypeError, as a rejection, if an argument is out of its range
 *
 * @example
 * ```ts
 * import { realClock } from "@holdfast/clock";
 * import { endsWithin } from "@holdfast/wait/limit";
 *
 * const stop = (signal: AbortSignal) => realClock.sleep(60_000, { signal });
 * console.log(await endsWithin(stop, 10)); // => false
 * ```
 */
export async function endsWithin(
  work: (expired: AbortSignal) => PromiseLike<unknown>,
  timeout: number,
  options: EndsWithinOptions = {},
): Promise<boolean> {
  requireFunction("work", work);
  const deadline = new Deadline(
    timeout,
    read("options", options, "endsWithin", ENDS_WITHIN_OPTIONS),
  );
  try {
    await deadline.wait(work, deadline.signal);
    return true;
  } catch (error) {
    if (deadline.isExpiry(error)) return false;
    throw error;
  }
}
