import { type PassiveClock, realClock } from "@holdfast/clock";
import { requireMethods, requireString } from "@holdfast/kit";

const SECONDS = /^\d+$/;
const TIME = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`;
const WEEKDAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const LONG_WEEKDAY = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day";
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const MONTH = `(?<month>${MONTHS.join("|")})`;

/** The three date formats of RFC 9110. Two are obsolete, but recipients must accept them. */
const DATES = [
  String.raw`^${WEEKDAY}, (?<day>\d\d) ${MONTH} (?<year>\d{4}) ${TIME} GMT$`,
  String.raw`^${LONG_WEEKDAY}, (?<day>\d\d)-${MONTH}-(?<year>\d\d) ${TIME} GMT$`,
  String.raw`^${WEEKDAY} ${MONTH} (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`,
].map((format) => new RegExp(format));

/**
 * Parses a `Retry-After` header into a delay.
 *
 * `expectOk` does this for a response of `fetch`.
 *
 * Accepts the three date formats of RFC 9110. A year of two digits is at most 50 years in the future. The
 * leap second 23:59:60 is the first second of the next day. A date that does not exist is malformed; a
 * weekday that does not fit the date is ignored. A number of seconds whose milliseconds are no safe integer
 * is malformed. So is white space around the value.
 *
 * @param value - the header: a number of seconds or an HTTP date; null or undefined if missing
 * @param clock - the wall clock that a date is compared with, if `date` is missing or malformed; by default `realClock`
 * @param date - the `Date` header of the same response. The server has both dates from its own clock, so a wrong clock of
 * this machine changes nothing
 * @returns milliseconds, at least 0; 0 for a date in the past; undefined for a missing or malformed
 * header
 * @throws TypeError if `value` or `date` is not a string, null or undefined, or `clock` is not a clock
 *
 * Source: RFC 9110, sections 5.6.7 and 10.2.3.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { parseRetryAfter } from "@holdfast/wait/limit";
 *
 * const clock = new FakeClock({ now: Date.UTC(2026, 0, 1) });
 * console.log(parseRetryAfter("120", clock)); // => 120000
 * console.log(parseRetryAfter("Thu, 01 Jan 2026 00:00:30 GMT", clock)); // => 30000
 * console.log(parseRetryAfter("soon", clock)); // => undefined
 * const [after, date] = ["Thu, 01 Jan 2026 09:00:30 GMT", "Thu, 01 Jan 2026 09:00:00 GMT"];
 * console.log(parseRetryAfter(after, clock, date)); // => 30000
 * ```
 */
export function parseRetryAfter(
  value: string | null | undefined,
  clock: PassiveClock = realClock,
  date?: string | null,
): number | undefined {
  requireMethods("clock", clock, ["now"]);
  requireString("date", date ?? "");
  if (value === null || value === undefined) return undefined;
  requireString("value", value);
  const text = value.trim();
  if (SECONDS.test(text)) {
    const milliseconds = Number(text) * 1_000;
    return Number.isSafeInteger(milliseconds) ? milliseconds : undefined;
  }
  const now = sentAt(date, clock.now());
  const instant = parseDate(text, now);
  return instant === undefined ? undefined : Math.max(instant - now, 0);
}

/** The instant of a `Date` header; `now` without one. */
function sentAt(date: string | null | undefined, now: number): number {
  return parseDate((date ?? "").trim(), now) ?? now;
}

/** An HTTP date, in milliseconds since the epoch; undefined if there is no such date. */
function parseDate(text: string, now: number): number | undefined {
  const fields = DATES.map((date) => date.exec(text)?.groups).find(
    (groups) => groups !== undefined,
  );
  if (fields === undefined) return undefined;
  const { year = "", month = "", day, hour, minute, second } = fields;
  const time = [hour, minute, second].map(Number) as [number, number, number];
  const at = (fullYear: number) => instantOf([fullYear, MONTHS.indexOf(month), Number(day)], time);
  return year.length === 4 ? at(Number(year)) : recent(Number(year), at, now);
}

/** The latest date with a year of these two digits that is not more than 50 years in the future. */
function recent(
  digits: number,
  at: (year: number) => number | undefined,
  now: number,
): number | undefined {
  const limit = new Date(now);
  limit.setUTCFullYear(limit.getUTCFullYear() + 50);
  const year = limit.getUTCFullYear();
  const latest = year - ((year - digits) % 100);
  const instant = at(latest);
  return instant !== undefined && instant > limit.getTime() ? at(latest - 100) : instant;
}

/** Refuses a time of day that does not exist, and a day beyond the end of its month. */
function instantOf(
  [year, month, day]: [number, number, number],
  [hour, minute, second]: [number, number, number],
): number | undefined {
  const isLeapSecond = hour === 23 && minute === 59 && second === 60;
  if (hour > 23 || minute > 59 || (second > 59 && !isLeapSecond)) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  if (date.getUTCMonth() !== month || date.getUTCDate() !== day) return undefined;
  return date.setUTCHours(hour, minute, second);
}
