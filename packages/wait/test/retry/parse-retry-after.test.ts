import { FakeClock } from "@holdfast/clock/testing";
import { parseRetryAfter } from "@holdfast/wait/limit";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

/** A date without a zone must not be parsed in the zone of the machine. */
beforeEach(() => {
  vi.stubEnv("TZ", "Pacific/Auckland");
});

afterEach(() => {
  vi.unstubAllEnvs();
});

const NOW = Date.UTC(1994, 10, 6, 8, 49, 37);

it.each([
  ["0", 0],
  ["120", 120_000],
  [" 120 ", 120_000],
  ["007", 7000],
  ["99999999999", 99_999_999_999_000],
  // The three forms of RFC 9110, two minutes from now.
  ["Sun, 06 Nov 1994 08:51:37 GMT", 120_000],
  ["Sunday, 06-Nov-94 08:51:37 GMT", 120_000],
  ["Sun Nov  6 08:51:37 1994", 120_000],
  ["Wed Nov 16 08:49:37 1994", 864_000_000],
  ["Sun, 06 Nov 1994 08:49:37 GMT", 0],
  ["Sun, 06 Nov 1994 08:49:36 GMT", 0],
  ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
  // Four digits are the year itself.
  ["Sat Nov  6 08:51:37 2060", Date.UTC(2060, 10, 6, 8, 51, 37) - NOW],
  ["Sat Nov  6 08:51:37 0060", 0],
  // The last second of a minute, and a leap second.
  ["Sun, 06 Nov 1994 08:51:59 GMT", 142_000],
  ["Sun, 06 Nov 1994 23:59:60 GMT", Date.UTC(1994, 10, 7) - NOW],
  ["Sunday, 06-Nov-94 23:59:60 GMT", Date.UTC(1994, 10, 7) - NOW],
  ["Sun Nov  6 23:59:60 1994", Date.UTC(1994, 10, 7) - NOW],
  // A leap day, and a weekday that does not fit.
  ["Thu, 29 Feb 1996 00:00:00 GMT", Date.UTC(1996, 1, 29) - NOW],
  ["Mon, 06 Nov 1994 08:51:37 GMT", 120_000],
  // Two digits: at most 50 years in the future.
  ["Sunday, 06-Nov-44 08:49:37 GMT", Date.UTC(2044, 10, 6, 8, 49, 37) - NOW],
  ["Sunday, 06-Nov-44 08:49:38 GMT", 0],
  ["Friday, 01-Jan-45 00:00:00 GMT", 0],
  ["Saturday, 01-Jan-00 00:00:00 GMT", Date.UTC(2000, 0, 1) - NOW],
])("parses %j", (value, delay) => {
  const clock = new FakeClock();
  clock.setSystemTime(NOW);
  expect(parseRetryAfter(value, clock)).toBe(delay);
});

it.each([
  undefined,
  null,
  "",
  " ",
  "-1",
  "+1",
  "1.5",
  "1e3",
  "0x10",
  "Infinity",
  "soon",
  "1, 2",
  "120 s",
  // Formats that Date.parse accepts.

  "1994-11-06T08:51:37Z",
  "Sun, 06 Nov 1994 08:51:37 +0100",
  "Sun, 06 Nov 1994 08:51:37",
  "June 1 GMT",
  "from Sun, 06 Nov 1994 08:51:37 GMT",
  "Sun, 06 Nov 1994 08:51:37 GMT (soon)",
  "from Sunday, 06-Nov-94 08:51:37 GMT",
  "Sunday, 06-Nov-94 08:51:37 GMT (soon)",
  "from Sun Nov  6 08:51:37 1994",
  "Sun Nov  6 08:51:37 1994 (soon)",
  // The right format, but not a date.
  "Sun, 06 Nox 1994 08:51:37 GMT",
  "Sun, 06 Nov 1994 28:51:37 GMT",
  "Sun, 06 Nov 1994 24:00:00 GMT",
  "Sun, 06 Nov 1994 08:60:00 GMT",
  "Sun, 06 Nov 1994 08:59:61 GMT",
  "Sun, 06 Nov 1994 08:59:60 GMT",
  "Sun, 06 Nov 1994 23:59:61 GMT",
  "Sun, 00 Nov 1994 08:51:37 GMT",
  "Thu, 31 Nov 2094 08:51:37 GMT",
  "Mon, 29 Feb 2094 08:51:37 GMT",
  "Tuesday, 30-Feb-44 08:51:37 GMT",
  "Sunday, 32-Nov-44 08:51:37 GMT",
  "Sun Nov 31 08:51:37 2094",
  "Sun Nov  0 08:51:37 2094",
  "Foo, 06 Nov 2094 08:51:37 GMT",
  "Sun, 06 Nov 2094 08:51:37 gmt",
])("returns undefined for %j", (value) => {
  expect(parseRetryAfter(value, new FakeClock())).toBeUndefined();
});

it("reads two digits as a year of the nearest century, at the end of a century", () => {
  const clock = new FakeClock({ now: Date.UTC(2090, 0, 1) });
  const delay = Date.UTC(2105, 0, 1) - clock.now();
  expect(parseRetryAfter("Thursday, 01-Jan-05 00:00:00 GMT", clock)).toBe(delay);
});

it.each([120, 0, true, {}, ["120"], Symbol("120"), new Date(0)])("refuses %o by name", (value) => {
  const parse = () => parseRetryAfter(value as unknown as string, new FakeClock());
  expect(parse).toThrow(/^value must be a string, got /);
});

it("compares a date with realClock by default", () => {
  expect(parseRetryAfter("Fri, 01 Jan 2100 00:00:00 GMT")).toBeGreaterThan(0);
});

it.each([
  ["Sun, 06 Nov 1994 08:49:37 GMT", 120_000],
  ["Sunday, 06-Nov-94 08:49:37 GMT", 120_000],
  ["Sun, 06 Nov 1994 09:49:37 GMT", 0],
  [" Sun, 06 Nov 1994 08:49:37 GMT", 120_000],
])("counts a date from the Date of the response, %j, and not from a wrong clock", (date, delay) => {
  const after = "Sun, 06 Nov 1994 08:51:37 GMT";
  for (const hours of [-5, 0, 5]) {
    const clock = new FakeClock({ now: Date.UTC(1994, 10, 6, 8 + hours, 49, 37) });
    expect(parseRetryAfter(after, clock, date)).toBe(delay);
    expect(parseRetryAfter("120", clock, date)).toBe(120_000);
  }
});

it.each([undefined, null, "", "soon"])("counts from the clock if the Date is %j", (date) => {
  const clock = new FakeClock({ now: Date.UTC(1994, 10, 6, 8, 49, 37) });
  expect(parseRetryAfter("Sun, 06 Nov 1994 08:51:37 GMT", clock, date)).toBe(120_000);
});

it("refuses a Date that is no string by name", () => {
  const parse = () => parseRetryAfter("1", new FakeClock(), new Date(0) as unknown as string);
  expect(parse).toThrow(/^date must be a string, got /);
});
