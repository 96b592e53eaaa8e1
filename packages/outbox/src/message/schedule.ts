import {
  requireAtLeast,
  requireNotNegative,
  requireOptions,
  requireWhole,
} from "@holdfast/clock/internal";
import type { Message } from "./message.ts";

/** The longest wait that a message may ask for, in milliseconds: a hundred years. */
export const LONGEST_WAIT: number = 100 * 365 * 24 * 60 * 60 * 1_000;

/** Attempts without a known outcome that make a message dead: the message itself may crash its relays. */
export const MOST_LOST_ATTEMPTS = 4;

/** The fields of a message that its waits follow from. */
export type Schedule = Pick<Message, "initBackoff" | "backoffFactor">;

/**
 * How long a message waits after its `failures`-th failure, in milliseconds: `init × factor^failures`.
 * After none, that is the time its first attempt has before other relays treat it as abandoned.
 *
 * @param failures - whole, at least 0
 * @param schedule - the message, or its schedule alone
 * @returns milliseconds, at least 0
 * @throws RangeError or TypeError that names the argument
 *
 * @example
 * ```ts
 * import { waitAfter } from "@holdfast/outbox";
 *
 * const schedule = { initBackoff: 10_000, backoffFactor: 2 };
 * console.log([0, 1, 2].map((failures) => waitAfter(failures, schedule))); // => [ 10000, 20000, 40000 ]
 * ```
 */
export function waitAfter(failures: number, schedule: Schedule): number {
  requireWhole("failures", failures, 0);
  requireOptions("schedule", schedule);
  const { initBackoff, backoffFactor } = schedule;
  requireNotNegative("schedule.initBackoff", initBackoff);
  requireAtLeast("schedule.backoffFactor", backoffFactor, 1);
  // 0 × Infinity would be NaN.
  return initBackoff * Math.min(backoffFactor ** failures, Number.MAX_VALUE);
}

/** The instant `wait` from `now`, whole and not too early. Counted from now, not from the planned instant. */
export function instantAfter(wait: number, now: number): number {
  return Math.ceil(now + wait);
}
