import { type PassiveClock, realClock } from "@holdfast/clock";
import { requireMethods } from "@holdfast/clock/internal";

const SECONDS = /^\d+$/;
/** The three date formats of RFC 9110. Two are obsolete, but recipients must accept them. */
const DATES = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/**
 * Parses a `Retry-After` header into a delay.
 *
 * {@link expectOk} does this for a response of `fetch`.
 *
 * @param value - the header: a number of seconds or an HTTP date; null or undefined if missing
 * @param clock - the wall clock that a date is compared with; by default `realClock`
 * @returns milliseconds, at least 0; 0 for a date in the past; undefined for a missing or malformed
 * header
 * @throws TypeError if `clock` is not a clock
 *
 * Source: RFC 9110, section 10.2.3.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { parseRetryAfter } from "@holdfast/wait";
 *
 * const clock = new FakeClock({ now: Date.UTC(2026, 0, 1) });
 * console.log(parseRetryAfter("120", clock)); // => 120000
 * console.log(parseRetryAfter("Thu, 01 Jan 2026 00:00:30 GMT", clock)); // => 30000
 * console.log(parseRetryAfter("soon", clock)); // => undefined
 * ```
 */
export function parseRetryAfter(
  value: string | null | undefined,
  clock: PassiveClock = realClock,
): number | undefined {
  requireMethods("clock", clock, ["now"]);
  const text = value?.trim() ?? "";
  if (SECONDS.test(text)) return Number(text) * 1_000;
  if (!DATES.some((date) => date.test(text))) return undefined;
  const instant = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(instant) ? undefined : Math.max(instant - clock.now(), 0);
}
