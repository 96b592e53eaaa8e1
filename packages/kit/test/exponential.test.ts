import { exponential, power } from "@holdfast/kit";
import fc from "fast-check";
import { expect, it } from "vitest";

it.each([
  { base: 2, exponent: 0, is: 1 },
  { base: 0, exponent: 0, is: 1 },
  { base: 3, exponent: 1, is: 3 },
  { base: 3, exponent: 5, is: 243 },
  { base: 2, exponent: 1023, is: 2 ** 1023 },
  { base: 2, exponent: 1024, is: Number.POSITIVE_INFINITY },
  { base: 0.5, exponent: 1074, is: 2 ** -1074 },
  { base: 0.5, exponent: 2 ** 40, is: 0 },
  { base: 1, exponent: Number.MAX_VALUE, is: 1 },
])("returns $is for $base to the power of $exponent", ({ base, exponent, is }) => {
  expect(power(base, exponent)).toBe(is);
});

// The last digits of ** differ in V8.
it.each([
  { base: 1.1, exponent: 4, is: 1.4641000000000004 },
  { base: 1.3, exponent: 3, is: 2.1970000000000005 },
  { base: 1.6, exponent: 4, is: 6.553600000000003 },
  { base: 2.5, exponent: 26, is: 22204460492.50313 },
])("returns the product to its last digit: $base to the power of $exponent", (row) => {
  expect(power(row.base, row.exponent)).toBe(row.is);
});

it("ends for an exponent of Infinity", () => {
  expect(power(2, Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
});

it("is exact if a double can be", () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 9 }), fc.nat(16), (base, exponent) => {
      return BigInt(power(base, exponent)) === BigInt(base) ** BigInt(exponent);
    }),
  );
});

it("is never NaN", () => {
  expect(exponential(0, 2, 2_000)).toBe(0);
  expect(exponential(5, 2, 3)).toBe(40);
});
