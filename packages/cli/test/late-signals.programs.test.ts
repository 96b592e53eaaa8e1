import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { Holdfast } from "./holdfast.ts";

const manifest = join(tempFolder(), "holdfast.yaml");
writeFileSync(manifest, "processes: { job: { shell: exit 3, restart: Never } }\n");

const COMMANDS = [
  { args: ["retry", "--attempts", "1", "--", "sh", "-c", "exit 5"], code: 5 },
  { args: ["wait", "tcp:127.0.0.1:1", "--timeout", "1ms"], code: 124 },
  { args: ["wait", `file:${manifest}`, "--", "sh", "-c", "exit 6"], code: 6 },
  { args: ["run", manifest], code: 1 },
];
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];

/** Sends a signal to its process when nothing is left to do but to exit, and waits for it. */
const late = (signal: string): string => {
  const script = `const { exit } = process;
    process.exit = () => {
      process.exit = exit;
      process.kill(process.pid, "${signal}");
      setTimeout(() => {}, 60_000);
    }`;
  return `--import data:text/javascript,${encodeURIComponent(script)}`;
};

describe.each(COMMANDS)("holdfast $args", ({ args, code }) => {
  test.each(SIGNALS)("ends with its own code although %s comes late", async (signal) => {
    const run = new Holdfast(args, { env: { NODE_OPTIONS: late(signal) } });
    expect((await run.ended()).code).toBe(code);
  });
});
