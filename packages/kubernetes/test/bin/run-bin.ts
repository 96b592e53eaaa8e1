import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type Run, runCommand } from "../../src/bin/run-command.ts";

const bin = fileURLToPath(new URL("../../dist/bin/main.js", import.meta.url));

let last: Promise<unknown> = Promise.resolve();

/** Runs the command line in this process, in a folder. The process has one working directory, so runs take turns. */
export async function runBin(args: string[], cwd: string): Promise<Run> {
  const run = last.then(() => runIn(cwd, args));
  last = run.catch(() => {});
  return await run;
}

async function runIn(cwd: string, args: string[]): Promise<Run> {
  const before = process.cwd();
  process.chdir(cwd);
  try {
    return await runCommand(args);
  } finally {
    process.chdir(before);
  }
}

/** Runs the built command line in a process of its own, as npx does. */
export async function startBin(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Run> {
  const child = spawn(process.execPath, [bin, ...args], { cwd, env: { ...process.env, ...env } });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code, stdout, stderr };
}
