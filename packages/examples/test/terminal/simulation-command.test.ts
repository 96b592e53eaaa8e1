import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { wholeNumber } from "../../src/terminal/arguments.ts";
import { simulationCommand } from "../../src/terminal/simulation-command.ts";

const directory = tempFolder();
afterEach(() => vi.restoreAllMocks());

function read(...args: string[]) {
  const command = simulationCommand("test", "Tests.").exitOverride();
  command.configureOutput({ writeOut: () => {}, writeErr: () => {} });
  return command.parse(args, { from: "user" }).opts();
}

it.each([
  { args: [], want: { seed: 1 } },
  { args: ["--seed", "0"], want: { seed: 0 } },
  {
    args: ["--seed=4294967295", "--json", "--svg", join(directory, "a", "b")],
    want: { seed: 2 ** 32 - 1, json: true, svg: join(directory, "a", "b") },
  },
])("reads $args", ({ args, want }) => {
  expect(read(...args)).toEqual(want);
});

it.each([
  { args: ["--seed", "x"] },
  { args: ["--seed", "4294967296"] },
  { args: ["--svg"] },
  { args: ["--sed", "1"] },
  { args: ["more"] },
])("rejects $args", ({ args }) => {
  expect(() => read(...args)).toThrow();
});

it.each(["", " ", "0.5", "63", "1519", "1e9", "NaN"])(
  "rejects %j as the length of a frame",
  (text) => {
    expect(() => wholeNumber(64, 1_518)(text)).toThrow("Expected a whole number from 64 to 1518.");
  },
);

it("rejects --svg FILE before the run", () => {
  const file = join(directory, "file");
  writeFileSync(file, "");
  expect(() => read("--svg", file)).toThrow("is not a directory. Choose another directory.");
  expect(() => read("--svg", join(file, "in-it"))).toThrow(
    "is not a directory. Choose another directory.",
  );
});

/** The exit code that a program ends with before it begins. */
function exitCodeOf(parse: () => unknown): unknown {
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const exit = vi.spyOn(process, "exit").mockImplementation((code) => {
    throw new Error(`exit ${code}`);
  });
  expect(parse).toThrow();
  return exit.mock.lastCall?.[0];
}

it.each([
  { args: ["--seed", "x"], code: 2 },
  { args: ["--sed", "1"], code: 2 },
  { args: ["--help"], code: 0 },
])("ends with $code for $args", ({ args, code }) => {
  const command = simulationCommand("test", "Tests.");
  expect(exitCodeOf(() => command.parse(args, { from: "user" }))).toBe(code);
});
