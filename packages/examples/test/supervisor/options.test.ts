import { expect, it } from "vitest";
import { parseOptions } from "../../src/supervisor/options.ts";

const SHIPPED = "packages/examples/src/supervisor/demo/demo.yaml";

it.each([
  {
    args: [],
    want: { file: SHIPPED, duration: 20_000, grace: undefined, logs: undefined },
  },
  {
    args: ["--file", "my.yaml", "--forever", "--grace", "500ms", "--logs", "logs"],
    want: { file: "my.yaml", duration: Number.POSITIVE_INFINITY, grace: 500, logs: "logs" },
  },
  {
    args: ["--for=1m30s"],
    want: { file: SHIPPED, duration: 90_000, grace: undefined, logs: undefined },
  },
])("reads $args", ({ args, want }) => {
  const parsed = parseOptions(args);
  const options = parsed.kind === "run" ? parsed.options : undefined;
  expect(options && { ...options, file: options.file.slice(-want.file.length) }).toEqual(want);
});

it.each([
  { args: ["--fil", "x"], want: "error: unknown option '--fil'\n(Did you mean --file?)" },
  { args: ["my.yaml"], want: "error: too many arguments. Expected 0 arguments but got 1." },
  { args: ["--file"], want: "error: option '--file <path>' argument missing" },
  {
    args: ["--for", "5"],
    want: `error: option '--for <duration>' argument '5' is invalid. Expected a duration such as "500ms", "20s" or "1m30s".`,
  },
  {
    args: ["--for", "5s", "--forever"],
    want: "error: option '--for <duration>' cannot be used with option '--forever'",
  },
])("rejects $args and shows the usage", ({ args, want }) => {
  const parsed = parseOptions(args);
  const [error, usage] = parsed.kind === "print" ? parsed.text.split("\n\n") : [];
  expect(error).toBe(want);
  expect(usage).toBe("Usage: npm start -- [options]");
  expect(parsed).toMatchObject({ code: 2 });
});

it("shows help", () => {
  const parsed = parseOptions(["--help"]);
  expect(parsed).toMatchObject({ kind: "print", code: 0 });
  const text = parsed.kind === "print" ? parsed.text : "";
  for (const option of ["--file", "--for ", "--forever", "--grace", "--logs", "--help"])
    expect(text).toContain(option);
});
