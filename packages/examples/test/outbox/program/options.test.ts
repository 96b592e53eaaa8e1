import { expect, it } from "vitest";
import { parseOptions } from "../../../src/outbox/program/options.ts";

const defaults = { messages: 1_000, workers: 3, kills: 5, seed: 1, json: undefined };

it.each([
  { args: "", want: {} },
  { args: "--messages 60 --workers 5 --kills 0", want: { messages: 60, workers: 5, kills: 0 } },
  { args: "--seed 7 --json figures.json", want: { seed: 7, json: "figures.json" } },
  { args: "--json -", want: { json: "-" } },
])("reads '$args'", ({ args, want }) => {
  const parsed = parseOptions(args.split(" ").filter(Boolean));
  expect(parsed).toEqual({ kind: "run", settings: { ...defaults, ...want } });
});

it.each([
  { args: "replay", ids: undefined },
  { args: "replay --ids a b", ids: ["a", "b"] },
])("reads '$args'", ({ args, ids }) => {
  expect(parseOptions(args.split(" "))).toEqual({ kind: "replay", ids });
});

it.each([
  { args: ["--messages", "0"], text: "Expected a whole number from 1 to 1000000." },
  { args: ["--kills", "some"], text: "Expected a whole number from 0 to 1000." },
  { args: ["--kill", "3"], text: "(Did you mean --kills?)" },
  { args: ["replay", "--id", "a"], text: "(Did you mean --ids?)" },
  { args: ["elsewhere"], text: "too many arguments" },
])("says what is wrong with $args and how to write it", ({ args, text }) => {
  const parsed = parseOptions(args);
  expect(parsed).toMatchObject({ kind: "print", code: 2 });
  expect(parsed).toHaveProperty("text", expect.stringContaining(text));
  expect(parsed).toHaveProperty("text", expect.stringContaining("Usage: npm run outbox --"));
});

it("prints its usage when asked", () => {
  const parsed = parseOptions(["--help"]);
  expect(parsed).toMatchObject({ kind: "print", code: 0 });
  expect(parsed).toHaveProperty("text", expect.stringContaining("DATABASE_URL"));
});
