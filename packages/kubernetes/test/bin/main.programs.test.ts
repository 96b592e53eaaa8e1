import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runBin, startBin } from "./run-bin.ts";

const folder = mkdtempSync(join(tmpdir(), "bin-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("npx @holdfast/kubernetes", () => {
  it("prints its usage for --help, in a process of its own", async () => {
    const { code, stdout } = await startBin(["types", "--help"], folder);
    expect([code, stdout.split("\n")[0]]).toEqual([0, "npx @holdfast/kubernetes COMMAND"]);
  });

  it("writes an error to stderr, in a process of its own", async () => {
    const stderr = "error: FILE is missing; see --help\n";
    expect(await startBin(["types"], folder)).toEqual({ code: 2, stdout: "", stderr });
  });

  it.each<[string[], string]>([
    [[], "COMMAND must be one of types, manifests, recording, got none; see --help"],
    [["apply"], "COMMAND must be one of types, manifests, recording, got apply; see --help"],
    [["types"], "FILE is missing; see --help"],
    [["types", "--from-cluster"], "NAME is missing; see --help"],
    [["types", "-x"], "Unknown option '-x'"],
    [["types", "none.yaml"], "none.yaml cannot be read (ENOENT)"],
    [["recording", "play"], "recording must be followed by show or check, got play"],
    [["recording", "check"], "FILE is missing; see --help"],
    [["recording", "check", "."], "openRecording: no recording in .: its files end in .flight.gz"],
    [["manifests", "--out", "deploy"], "MODULE is missing; see --help"],
    [["manifests", "resource.js"], "--out DIR is missing; see --help"],
    [
      ["rules", "run.jsonl", "--name", "a"],
      "rules is a command of @holdfast/fake-apiserver: npx @holdfast/fake-apiserver rules run.jsonl --name a",
    ],
  ])("refuses %j with one line and exit code 2", async (args, problem) => {
    expect(await runBin(args, folder)).toEqual({
      code: 2,
      stdout: "",
      stderr: `error: ${problem}\n`,
    });
  });
});
