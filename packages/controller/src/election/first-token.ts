import type { Clock } from "@holdfast/clock";

/** First token of a lock whose record was removed: seconds since the epoch, so that tokens keep growing. */
export function firstTokenAt(clock: Clock): number {
  return Math.max(Math.floor(clock.now() / 1_000), 0);
}
