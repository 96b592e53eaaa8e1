import type { PassiveClock } from "@holdfast/clock";
import type { BackoffManager } from "@holdfast/wait";

/** The next delay of a manager, rounded to the nanosecond. */
export function nextDelay(manager: BackoffManager, clock: PassiveClock): number {
  return Math.round((manager.backoff().deadline - clock.monotonic()) * 1e6) / 1e6;
}
