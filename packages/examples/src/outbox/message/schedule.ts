import type { Message } from "./message.ts";

/** The longest wait that a message may ask for, in milliseconds: a hundred years. */
export const LONGEST_WAIT: number = 100 * 365 * 24 * 60 * 60 * 1_000;

/** What a wait depends on. */
export type Schedule = Pick<Message, "initBackoff" | "backoffFactor">;

/**
 * How long a message waits after its `failures`-th failure, in milliseconds: `init × factor^failures`.
 * After none, others leave it to its first attempt for that long.
 */
export function waitAfter(failures: number, { initBackoff, backoffFactor }: Schedule): number {
  // A power that has no end would make of no first wait something that is no number.
  return initBackoff * Math.min(backoffFactor ** failures, Number.MAX_VALUE);
}

/** The instant `wait` from `now`, whole and not too early. Counted from now, not from what was planned. */
export function instantAfter(wait: number, now: number): number {
  return Math.ceil(now + wait);
}
