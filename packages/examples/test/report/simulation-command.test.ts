import { expect, it } from "vitest";
import { simulationCommand, wholeNumber } from "../../src/report/simulation-command.ts";

function read(...args: string[]) {
  const command = simulationCommand("test", "Tests.").exitOverride();
  command.configureOutput({ writeOut: () => {}, writeErr: () => {} });
  return command.parse(args, { from: "user" }).opts();
}

it.each([
  { args: [], want: { seed: 1 } },
  { args: ["--seed", "0"], want: { seed: 0 } },
  {
    args: ["--seed=4294967295", "--json", "--svg", "here"],
    want: { seed: 2 ** 32 - 1, json: true, svg: "here" },
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
  "takes %j for no length of a frame",
  (text) => {
    expect(() => wholeNumber(64, 1_518)(text)).toThrow("Expected a whole number from 64 to 1518.");
  },
);
