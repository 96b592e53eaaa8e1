import { instantAfter, roundToNanosecond } from "@holdfast/kit";
import fc from "fast-check";
import { expect, it } from "vitest";

const DAYS_104 = 2 ** 53 / 1e6;

it.each([
  { instant: 0.1 + 0.2, nearest: 0.3 },
  { instant: 0.000_000_4, nearest: 0 },
  { instant: 0.000_000_6, nearest: 0.000_001 },
  { instant: 1_000_000.123_456_4, nearest: 1_000_000.123_456 },
  { instant: Number.POSITIVE_INFINITY, nearest: Number.POSITIVE_INFINITY },
])("$instant becomes $nearest", ({ instant, nearest }) => {
  expect(roundToNanosecond(instant)).toBe(nearest);
});

it("does not change instants beyond 104 days", () => {
  fc.assert(
    fc.property(fc.double({ min: DAYS_104, max: 1e15, noNaN: true }), (instant) => {
      expect(roundToNanosecond(instant)).toBe(instant);
    }),
  );
});

it("never rounds the deadline of a timer armed now to before now", () => {
  const milliseconds = fc.double({ min: 0, max: 2 * DAYS_104, noNaN: true });
  fc.assert(
    fc.property(milliseconds, milliseconds, (instant, delay) => {
      const now = roundToNanosecond(instant);
      expect(roundToNanosecond(now)).toBe(now);
      expect(roundToNanosecond(now + delay)).toBeGreaterThanOrEqual(now);
    }),
  );
});

it("ends every duration above 0 after now", () => {
  const durations = fc.double({ min: Number.MIN_VALUE, max: 2 * DAYS_104, noNaN: true });
  const instants = fc.double({ min: 0, max: 2 * DAYS_104, noNaN: true });
  fc.assert(
    fc.property(instants, durations, (instant, duration) => {
      const now = roundToNanosecond(instant);
      expect(instantAfter(now, 0)).toBe(now);
      expect(instantAfter(now, duration)).toBeGreaterThan(now);
    }),
  );
});
