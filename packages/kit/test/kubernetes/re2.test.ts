import { fromRe2, PatternError } from "@holdfast/kit/kubernetes";
import { describe, expect, it } from "vitest";
import { drawn } from "../../../../test/drawn.ts";

// Texts of other patterns are recorded: packages/fake-apiserver/conformance/tables/patterns.ts.
describe("a pattern of RE2", () => {
  it.each([
    ["a**", "invalid nested repetition operator"],
    ["a{2}{3}", "invalid nested repetition operator"],
    ["*a", "missing argument to repetition operator"],
    ["(|+)", "missing argument to repetition operator"],
    ["(?=a)", "invalid or unsupported Perl syntax"],
    ["(?<!a)", "invalid or unsupported Perl syntax"],
    ["(?)", "invalid or unsupported Perl syntax"],
    ["(?x)a", "invalid or unsupported Perl syntax"],
    ["(a", "missing closing )"],
    ["a)", "unexpected )"],
    ["[a", "missing closing ]"],
    ["[z-a]", "invalid character class range"],
    ["[[:foo:]]", "invalid character class range"],
    ["\\p{Foo}", "invalid character class range"],
    ["[a-\\d]", "invalid escape sequence"],
    ["\\Z", "invalid escape sequence"],
    ["\\1", "invalid escape sequence"],
    ["\\y", "invalid escape sequence"],
    ["\\x{110000}", "invalid escape sequence"],
    ["\\", "trailing backslash"],
    ["a{1001}", "invalid repeat count"],
    ["a{3,2}", "invalid repeat count"],
    ["(?:a{100}){11}", "invalid repeat count"],
    ["(?P<n>a)(?P<n>b)", "duplicate capture group name"],
  ])("is refused: %s", (pattern, problem) => {
    expect(() => fromRe2(pattern)).toThrow(PatternError);
    expect(() => fromRe2(pattern)).toThrow(problem);
  });

  it("that ignores case finds the letters that JavaScript finds, but for the Turkish i", () => {
    const different: string[] = [];
    const codes = Array.from({ length: 0x2500 }, (_, code) => String.fromCodePoint(code));
    const letters = codes.filter((one) => /\p{L}/u.test(one));
    for (const letter of drawn(letters, 8)) {
      const ours = fromRe2(`(?i)^[${letter}]$`);
      const others = [letter.toLowerCase(), letter.toUpperCase(), letter];
      for (const other of others)
        if (ours.test(other) !== new RegExp(`^[${letter}]$`, "iu").test(other))
          different.push(letter);
    }
    expect(different).toEqual([]);
  });

  it("finds again what a repeated edge finds", () => {
    expect(fromRe2("^*a$?").test("ba")).toBe(true);
    expect(fromRe2("(?:\\b)+a").test("a")).toBe(true);
  });
});
