import { expect, it } from "vitest";
import { parseOptions } from "../../src/supervisor/options.ts";

const SHIPPED = "packages/examples/src/supervisor/demo/demo.yaml";

const DEFAULTS = {
  file: SHIPPED,
  duration: 20_000,
  grace: undefined,
  logs: undefined,
  port: 0,
  replicas: undefined,
  lock: undefined,
  identity: "supervisor",
  lease: 3_000,
};

it.each([
  {
    args: [],
    want: DEFAULTS,
  },
  {
    args: ["--file", "my.yaml", "--forever", "--grace", "500ms", "--logs", "logs"],
    want: {
      ...DEFAULTS,
      file: "my.yaml",
      duration: Number.POSITIVE_INFINITY,
      grace: 500,
      logs: "logs",
    },
  },
  {
    args: ["--for=1m30s"],
    want: { ...DEFAULTS, duration: 90_000 },
  },
  { args: ["--port", "8080"], want: { ...DEFAULTS, port: 8_080 } },
  { args: ["--no-page"], want: { ...DEFAULTS, port: undefined } },
  { args: ["--replicas", "3", "--lease", "1s"], want: { ...DEFAULTS, replicas: 3, lease: 1_000 } },
  { args: ["--replicas", "3", "--lease", "500ms"], want: { ...DEFAULTS, replicas: 3, lease: 500 } },
  {
    args: ["--lock", "lock", "--identity", "b"],
    want: { ...DEFAULTS, lock: "lock", identity: "b" },
  },
  {
    args: ["--lock", "lock"],
    want: { ...DEFAULTS, lock: "lock", identity: `supervisor-${process.pid}` },
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
    args: ["--port", "65536"],
    want: "error: option '--port <number>' argument '65536' is invalid. Expected a whole number from 0 to 65535.",
  },
  {
    args: ["--replicas", "0"],
    want: "error: option '--replicas <number>' argument '0' is invalid. Expected a whole number from 1 to 9.",
  },
  {
    args: ["--replicas", "2", "--lease", "499ms"],
    want: "error: option '--lease <duration>' argument '499ms' is invalid. Expected at least 500ms.",
  },
  {
    args: ["--lease", "3s"],
    want: "error: --lease needs --replicas or --lock: a single supervisor has no lease",
  },
  {
    args: ["--identity", "a", "--replicas", "2"],
    want: "error: --identity needs --lock: only a replica has a name",
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
  for (const option of [
    "--file",
    "--for ",
    "--forever",
    "--grace",
    "--logs",
    "--port",
    "--no-page",
    "--replicas",
    "--lock",
    "--help",
  ])
    expect(text).toContain(option);
});
