import type { Clock } from "@holdfast/clock";
import { withTimeout } from "@holdfast/wait";

/** Waits for `work`, but at most `timeout` milliseconds. */
export async function within(
  timeout: number,
  work: (expired: AbortSignal) => Promise<unknown>,
  clock: Clock,
): Promise<void> {
  // Only the timeout can reject: neither the drain nor the end of the sources does.
  await withTimeout(work, timeout, { clock, label: "grace" }).catch(() => {});
}
