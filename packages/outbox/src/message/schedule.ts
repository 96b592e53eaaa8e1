import {
  exponential,
  requireAtLeast,
  requireNotNegative,
  requireOptions,
  requireWhole,
} from "@holdfast/kit";
import type { Message } from "./message.ts";

/** The longest delay that a message may ask for, in milliseconds: a hundred years. */
export const MAX_DELAY: number = 100 * 365 * 24 * 60 * 60 * 1_000;

/** Attempts alone without an outcome that make a message a dead letter: it may crash its relays. */
export const MAX_EXPIRED_ALONE = 3;

/** The fields of a message that decide its delays. */
export type Schedule = Pick<Message, "initialDelay" | "factor">;

/**
 * The delay after the `failures`-th failed attempt, in milliseconds: `initialDelay × factor^(failures − 1)`.
 *
 * @param failures - the number of failed attempts: whole, at least 1
 * @param schedule - the message, or its schedule alone
 * @returns milliseconds, at least 0
 * @throws RangeError or TypeError that names the argument
 *
 * @example
 * ```ts
 * import { delayAfter } from "@holdfast/outbox";
 *
 * const schedule = { initialDelay: 10_000, factor: 2 };
 * console.log([1, 2, 3].map((failures) => delayAfter(failures, schedule))); // => [ 10000, 20000, 40000 ]
 * ```
 */
export function delayAfter(failures: number, schedule: Schedule): number {
  requireWhole("failures", failures, 1);
  requireOptions("schedule", schedule);
  const { initialDelay, factor } = schedule;
  requireNotNegative("schedule.initialDelay", initialDelay);
  requireAtLeast("schedule.factor", factor, 1);
  return exponential(initialDelay, factor, failures - 1);
}
