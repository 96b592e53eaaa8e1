import { delimiter, dirname } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Program } from "../program.ts";

afterEach(() => vi.unstubAllEnvs());

describe("npm run dns-sync -- --cluster", () => {
  test("--check plays every fault but those of the API server", { timeout: 900_000 }, async () => {
    const kubectl = process.env["HOLDFAST_KUBECTL"];
    if (kubectl !== undefined)
      vi.stubEnv("PATH", `${dirname(kubectl)}${delimiter}${process.env["PATH"]}`);
    const args = ["--cluster", "--check", "--seed", "3", "--records", "20"];
    const program = new Program("dns-sync/main.js", args);
    const code = await program.exited;
    const { stdout } = program;
    expect(stdout).toContain(" 14 faults");
    expect(stdout).not.toMatch(/API: (stopped|compacted)/);
    expect(stdout.match(/ {2}holds /g), stdout).toHaveLength(8);
    expect(stdout).toMatch(/^(\d+) of \1 invariants checked; all of these held\.$/m);
    expect(code).toBe(0);
  });
});
