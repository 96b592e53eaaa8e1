import { optional, problemOf } from "@holdfast/kit/node";
import { describe, expect, it } from "vitest";

describe("optional", () => {
  const missing = () =>
    Promise.reject(Object.assign(new Error("no"), { code: "ERR_MODULE_NOT_FOUND" }));

  it("resolves with the package", async () => {
    expect(await optional("pg", Promise.resolve(7))).toBe(7);
  });

  it("says what to install if the package is missing", async () => {
    await expect(optional("pg", missing())).rejects.toThrow(
      "this command needs the package pg: npm install pg",
    );
    await expect(optional("yaml", missing(), "--save-dev ")).rejects.toThrow(
      "this command needs the package yaml: npm install --save-dev yaml",
    );
  });

  it("hands on every other error", async () => {
    const error = new SyntaxError("bad");
    await expect(optional("pg", Promise.reject(error))).rejects.toBe(error);
  });
});

describe("problemOf", () => {
  it.each<[unknown, string]>([
    [new Error("first\nsecond"), "first"],
    [
      new AggregateError([new Error("connect ECONNREFUSED ::1:5432"), new Error("b")]),
      "connect ECONNREFUSED ::1:5432",
    ],
    [Object.assign(new Error(""), { code: "ETIMEDOUT" }), "ETIMEDOUT"],
    [new TypeError("Unknown option '-x'. To specify a positional argument"), "Unknown option '-x'"],
    ["a text", "a text"],
    [undefined, "undefined"],
    [null, "null"],
  ])("of %o is %s", (error, want) => {
    expect(problemOf(error)).toBe(want);
  });
});
