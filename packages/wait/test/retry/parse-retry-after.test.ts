import { FakeClock } from "@holdfast/clock/testing";
import { parseRetryAfter } from "@holdfast/wait";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

/** A date without a zone must not be parsed in the zone of the machine. */
beforeEach(() => {
  vi.stubEnv("TZ", "Pacific/Auckland");
});

afterEach(() => {
  vi.unstubAllEnvs();
});

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
])("parses %j", (value, delay) => {
  const clock = new FakeClock();
  clock.setSystemTime(Date.UTC(1994, 10, 6, 8, 49, 37));
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
])("returns undefined for %j", (value) => {
  expect(parseRetryAfter(value, new FakeClock())).toBeUndefined();
});

it("compares a date with realClock by default", () => {
  expect(parseRetryAfter("Fri, 01 Jan 2100 00:00:00 GMT")).toBeGreaterThan(0);
});
