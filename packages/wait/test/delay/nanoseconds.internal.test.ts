import fc from "fast-check";
import { expect, it } from "vitest";
import { toMilliseconds, toNanosecondsWithin } from "../../src/delay/nanoseconds.ts";

it.each([
  { milliseconds: 0, is: 0 },
  { milliseconds: 4e-7, is: 0 },
  { milliseconds: 6e-7, is: 0 },
  { milliseconds: 1e-6, is: 1 },
  { milliseconds: 1.999_999_9, is: 1_999_999 },
  { milliseconds: 1_000, is: 1e9 },
  // The nearest double is 16 more, which exceeds the limit.
  { milliseconds: 102_364_329_044.137_51, is: Number(102_364_329_044_137_504n) },
  { milliseconds: Number.POSITIVE_INFINITY, is: 2 ** 63 },
])("rounds $milliseconds ms to $is ns", ({ milliseconds, is }) => {
  expect(toNanosecondsWithin(milliseconds)).toBe(is);
});

it("never exceeds the milliseconds, and is never two steps below", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 2 ** 62 / 1e6, noNaN: true }), (milliseconds) => {
      const nanoseconds = toNanosecondsWithin(milliseconds);
      expect(toMilliseconds(nanoseconds)).toBeLessThanOrEqual(milliseconds);
      const next = nanoseconds + Math.max(1, nanoseconds * 2 ** -51);
      expect(toMilliseconds(next)).toBeGreaterThan(milliseconds);
    }),
  );
});
