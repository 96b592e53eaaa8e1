import type { PassiveClock } from "@holdfast/clock";
import type { BackoffManager } from "@holdfast/wait";

/** The delay that a manager arms its timer with, to the nanosecond. */
export function nextDelay(manager: BackoffManager, clock: PassiveClock): number {
  return Math.round((manager.backoff().deadline - clock.monotonic()) * 1e6) / 1e6;
}
