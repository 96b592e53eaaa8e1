import type { Clock, Timer } from "@holdfast/clock";
import { requireClock } from "@holdfast/clock/internal";

/** The one timer of a manager: made at its first use, reset at every other. */
export function rearmedTimer(name: string, clock: Clock): (delay: number) => Timer {
  requireClock(name, clock);
  let timer: Timer | undefined;
  return (delay) => {
    timer?.reset(delay);
    timer ??= clock.newTimer(delay, { label: "backoff" });
    return timer;
  };
}
