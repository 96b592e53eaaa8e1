import { Quantity } from "@holdfast/kubernetes";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quantityTexts } from "./quantity-texts.ts";

const of = (value: string | number): Quantity => new Quantity(value);

// As a server of Kubernetes 1.36 wrote them into a Pod.
const CANONICAL: Readonly<Record<string, string>> = {
  "0": "0",
  "0Ki": "0",
  "0.0m": "0",
  "-0": "0",
  "0.5": "500m",
  ".5": "500m",
  "100m": "100m",
  "1000m": "1",
  "1.50": "1500m",
  "1500m": "1500m",
  "-0.5": "-500m",
  "+0.5": "500m",
  "1000": "1k",
  "1024": "1024",
  "1E": "1E",
  "100E": "100E",
  "1e3": "1e3",
  "1e4": "10e3",
  "1e10": "10e9",
  "1e100": "10e99",
  "3e2": "300",
  "1.5e3": "1500",
  "1.5e-3": "1500e-6",
  "123e-1": "12300e-3",
  "10e-1": "1",
  "1000e-3": "1",
  "1e-10": "1e-9",
  "1e-400": "1e-9",
  "1Ki": "1Ki",
  "1024Ki": "1Mi",
  "1000Ki": "1000Ki",
  "0.5Gi": "512Mi",
  "1.5Ki": "1536",
  "1.9Ki": "1945600m",
  "0.9Ki": "921600m",
  "0.001Ki": "1024m",
  "1.0001Ki": "1024102400u",
  "0.0000000001Ki": "103n",
  "-1.5Gi": "-1536Mi",
  "7.5Ei": "7680Pi",
  "0.1n": "1n",
  "-0.1n": "-1n",
  "1.1n": "2n",
  "-1.9n": "-2n",
  "1000n": "1u",
  "1000000000000000000000n": "1T",
  "9223372036854775808": "9223372036854775808",
  "99999999999999999999.999999999999999999999": "100E",
  // Where we differ: Go writes 1, 9223372036854775807, +1, 5., 1e0 and 1e+3.
  "1000E": "1000E",
  "100Ei": "100Ei",
  "+1": "1",
  "5.": "5",
  "1e0": "1",
  "1e+3": "1e3",
};

describe("a quantity", () => {
  it("has the canonical text of a server", () => {
    const texts = Object.keys(CANONICAL).map((text) => [text, String(of(text))]);
    expect(Object.fromEntries(texts)).toEqual(CANONICAL);
  });

  it("of a number is that of its text", () => {
    expect([0.1, 1e21, 1e-7, -2].map((value) => of(value).toJSON())).toEqual([
      ...["100m", "1e21", "100e-9", "-2"],
    ]);
  });

  it("adds and subtracts exactly, with the suffixes of its first part unless that is 0", () => {
    const sums = [
      of("0.1").add("0.2"),
      of("1Gi").add("1M"),
      of("1M").add("1Ki"),
      of("0").add("1Gi"),
      of("1Gi").subtract("1Gi").add("2e3"),
      of("0").subtract("1Mi"),
      of("9007199254740993").add("1n"),
      of("512Mi").subtract(new Quantity(of("0.5Gi"))),
    ];
    expect(sums.map(String)).toEqual([
      ...["300m", "1074741824", "1001024", "1Gi", "2e3", "-1Mi", "9007199254740993000000001n", "0"],
    ]);
  });

  it("compares by value", () => {
    const texts = ["1Ki", "1k", "1e3", "-1", "1024", "1n"];
    expect([...texts].sort((a, b) => of(a).compare(b))).toEqual([
      ...["-1", "1n", "1k", "1e3", "1Ki", "1024"],
    ]);
  });

  it("survives its text, and sums in any order are equal", () => {
    fc.assert(
      fc.property(quantityTexts, quantityTexts, (a, b) => {
        expect(of(String(of(a))).nanos).toBe(of(a).nanos);
        expect(of(a).add(b).nanos).toBe(of(b).add(a).nanos);
        expect(of(a).add(b).subtract(b).compare(a)).toBe(0);
      }),
    );
  });

  it.each([
    ...["", " 1", "1 ", ".", "+", "Ki", "--1", "1ki", "1K", "1e", "1e3Ki", "1Kim", "1,5", "0x1"],
    ...["NaN", "Infinity", "1e1001", "1e-1001", "1".repeat(301), "1\n", "١"],
  ])("is not %j", (text) => {
    expect(() => of(text)).toThrow(/^value must be a quantity such as "100m" or "1\.5Gi"/);
  });

  it("refuses a number that is none by name", () => {
    expect(() => of(Number.NaN)).toThrow(
      new RangeError('value must be a quantity such as "100m" or "1.5Gi", got "NaN"'),
    );
  });
});
