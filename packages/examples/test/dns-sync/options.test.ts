import { describe, expect, it } from "vitest";
import { parseOptions } from "../../src/dns-sync/options.ts";

describe("the command line", () => {
  it.each([
    [[], { api: "fake", mode: "page", minutes: 0, seed: 1, records: 60, port: 0 }],
    [["--real", "--check"], { api: "real", mode: "check" }],
    [["--cluster", "--port", "8080"], { api: "cluster", mode: "page", port: 8080 }],
    [["--minutes", "30", "--seed", "7"], { mode: "soak", minutes: 30, seed: 7 }],
    [["--records", "500"], { records: 500 }],
  ])("parses %j", (args, settings) => {
    expect(parseOptions(args)).toMatchObject({ kind: "run", settings });
  });

  it.each([
    [["--real", "--cluster"], "--real cannot be used with --cluster"],
    [["--check", "--minutes", "2"], "--check cannot be used with --minutes"],
    [["--minutes", "0"], "Expected a whole number from 1 to 1440"],
    [["--minutes", "soon"], "Expected a whole number from 1 to 1440"],
    [["--records", "9"], "Expected a whole number from 10 to 10000"],
    [["--port", "65536"], "Expected a whole number from 0 to 65535"],
    [["--seed", "-1"], "Expected a whole number"],
    [["--fast"], "unknown option"],
    [["now"], "too many arguments"],
  ])("refuses %j, with exit code 2", (args, text) => {
    const parsed = parseOptions(args);
    expect(parsed).toMatchObject({ kind: "print", code: 2 });
    expect(parsed).toHaveProperty("text", expect.stringContaining(text));
  });

  it("prints its help with exit code 0", () => {
    expect(parseOptions(["--help"])).toMatchObject({ kind: "print", code: 0 });
  });
});
