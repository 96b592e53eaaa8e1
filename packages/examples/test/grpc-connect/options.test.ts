import { expect, it } from "vitest";
import { parseOptions } from "../../src/grpc-connect/options.ts";

const defaults = { initial: 500, minConnectTimeout: 2_000, hold: 2_000, seed: undefined };

it.each([
  { args: "", want: defaults },
  {
    args: "--initial 1s --min-connect-timeout 20s",
    want: { initial: 1_000, minConnectTimeout: 20_000 },
  },
  { args: "--hold 1m30s --seed 7", want: { hold: 90_000, seed: 7 } },
])("reads '$args'", ({ args, want }) => {
  const parsed = parseOptions(args.split(" ").filter(Boolean));
  expect(parsed).toEqual({ kind: "run", options: { ...defaults, ...want } });
});

it.each([
  { args: ["--initial", "soon"], text: 'Expected a duration such as "500ms"' },
  { args: ["--initial", "0s"], text: "Expected a duration above 0" },
  { args: ["--seed", "x"], text: "Expected a whole number." },
  { args: ["--intial", "1s"], text: "(Did you mean --initial?)" },
  { args: ["localhost"], text: "too many arguments" },
])("names the mistake in $args and the correct form", ({ args, text }) => {
  const parsed = parseOptions(args);
  expect(parsed).toMatchObject({ kind: "print", code: 2 });
  expect(parsed).toHaveProperty("text", expect.stringContaining(text));
  expect(parsed).toHaveProperty("text", expect.stringContaining("Usage: npm run grpc-connect --"));
});

it("prints its usage when asked", () => {
  expect(parseOptions(["--help"])).toMatchObject({ kind: "print", code: 0 });
});
