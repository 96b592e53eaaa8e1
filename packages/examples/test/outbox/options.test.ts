import { expect, it } from "vitest";
import { parseOptions } from "../../src/outbox/options.ts";

const defaults = {
  messages: 1_000,
  workers: 3,
  kills: 5,
  seed: 1,
  json: undefined,
  port: 0,
  keep: false,
};

it.each([
  { args: "", want: {} },
  { args: "--messages 60 --workers 5 --kills 0", want: { messages: 60, workers: 5, kills: 0 } },
  { args: "--seed 7 --json figures.json", want: { seed: 7, json: "figures.json" } },
  { args: "--json -", want: { json: "-" } },
  { args: "--port 8080 --keep", want: { port: 8_080, keep: true } },
  { args: "--no-page", want: { port: undefined } },
])("reads '$args'", ({ args, want }) => {
  const parsed = parseOptions(args.split(" ").filter(Boolean));
  const settings = { ...defaults, ...want };
  expect(parsed).toEqual({ kind: "run", settings, database: undefined });
});

it.each([
  { args: "replay", ids: undefined, database: undefined },
  { args: "replay --ids a b", ids: ["a", "b"], database: undefined },
  { args: "replay --database mysql", ids: undefined, database: "mysql" },
  { args: "discard --ids a", ids: ["a"], database: undefined },
])("reads '$args'", ({ args, ids, database }) => {
  const [kind] = args.split(" ");
  expect(parseOptions(args.split(" "))).toEqual({ kind, ids, database });
});

it("reads 'dead-letters'", () => {
  expect(parseOptions(["dead-letters"])).toEqual({ kind: "dead-letters", database: undefined });
});

it.each(["postgres", "mysql", "pglite"])("reads --database %s", (database) => {
  expect(parseOptions(["--database", database])).toMatchObject({ kind: "run", database });
});

it.each([
  { args: ["--messages", "0"], text: "Expected a whole number from 1 to 1000000." },
  { args: ["--kills", "some"], text: "Expected a whole number from 0 to 1000." },
  { args: ["--kill", "3"], text: "(Did you mean --kills?)" },
  { args: ["replay", "--id", "a"], text: "(Did you mean --ids?)" },
  { args: ["--database", "oracle"], text: "Allowed choices are postgres, mysql, pglite." },
  { args: ["--port", "70000"], text: "Expected a whole number from 0 to 65535." },
  { args: ["elsewhere"], text: "too many arguments" },
])("names the mistake in $args and the correct form", ({ args, text }) => {
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
