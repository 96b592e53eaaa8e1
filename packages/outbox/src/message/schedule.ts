import {
  above,
  between,
  exponential,
  finiteFrom,
  type Kind,
  type Kinds,
  kind,
  read,
  requireAtLeast,
  requireBetween,
  required,
  requireNotNegative,
  requireOptions,
  requireWhole,
} from "@holdfast/kit";
import type { Message, MessageBackoff, MessageSchedule, MessageUnique } from "./message.ts";
import { storedName } from "./stored-text.ts";

/** The longest delay that a message may ask for, in milliseconds: a hundred years. */
export const MAX_DELAY: number = 100 * 365 * 24 * 60 * 60 * 1_000;

/** Attempts alone without an outcome that make a message a dead letter: it may crash its relays. */
export const MAX_EXPIRED_ALONE = 3;

/** The cap of delays that name none, in milliseconds: 25 attempts take 70 hours. */
export const CAP: number = 5 * 60 * 60 * 1_000;

const MOST_ATTEMPTS = 1_000_000;

/** The end of the year 9999, in milliseconds since the epoch. */
export const LAST_INSTANT = 253_402_300_799_999;

/** Each is a part of an index: a claim looks at one after the other. */
export const PRIORITIES: readonly number[] = [-2, -1, 0, 1, 2];

export const MESSAGE_UNIQUE: Kinds<MessageUnique> = {
  key: required(storedName),
  within: required(above(0)),
};

export const messageUnique: Kind = kind("messageUnique", (path, unique: MessageUnique) =>
  read(path, unique, "save", MESSAGE_UNIQUE),
);

export const priority: Kind = kind("priority", (path, value: number) => {
  const [least = 0] = PRIORITIES;
  requireBetween(path, requireWhole(path, value, least), least, -least);
});

export const MESSAGE_BACKOFF: Kinds<MessageBackoff> = {
  duration: between(0, MAX_DELAY),
  factor: finiteFrom(1),
  cap: above(0),
};

export const MESSAGE_SCHEDULE: Kinds<MessageSchedule> = {
  maxAttempts: kind("attempts", requireAttempts),
  maxAge: above(0),
  backoff: kind("messageBackoff", backoffOf),
};

function requireAttempts(path: string, attempts: number): void {
  requireBetween(path, requireWhole(path, attempts, 1), 1, MOST_ATTEMPTS);
}

/**
 * Fills in the defaults.
 *
 * @throws RangeError or TypeError that names the field
 */
export function backoffOf(path: string, given: MessageBackoff): Message["backoff"] {
  const { duration = 10_000, factor = 2, ...rest } = read(path, given, "save", MESSAGE_BACKOFF);
  const cap = Math.min(rest.cap ?? Math.max(CAP, duration), MAX_DELAY);
  if (cap < duration)
    throw new RangeError(`${path}.cap must be at least ${path}.duration, ${duration}, got ${cap}`);
  return { duration, factor, cap };
}

/**
 * The delay after the `failures`-th failed attempt, in milliseconds: `duration × factor^(failures − 1)`, at most `cap`.
 *
 * @param failures - the number of failed attempts: whole, at least 1
 * @param backoff - that of a message
 * @returns milliseconds, at least 0
 * @throws RangeError or TypeError that names the argument
 *
 * @example
 * ```ts
 * import { delayAfter } from "@holdfast/outbox/store";
 *
 * const backoff = { duration: 10_000, factor: 2, cap: 30_000 };
 * console.log([1, 2, 3].map((failures) => delayAfter(failures, backoff))); // => [ 10000, 20000, 30000 ]
 * ```
 */
export function delayAfter(failures: number, backoff: Message["backoff"]): number {
  requireWhole("failures", failures, 1);
  requireOptions("backoff", backoff);
  const { duration, factor, cap } = backoff;
  requireNotNegative("backoff.duration", duration);
  requireAtLeast("backoff.factor", factor, 1);
  requireNotNegative("backoff.cap", cap);
  return Math.min(exponential(duration, factor, failures - 1), cap);
}
