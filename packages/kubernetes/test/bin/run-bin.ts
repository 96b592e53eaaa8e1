import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { printedBy, type Run } from "../../../../test/printed.ts";
import { runIn } from "../../../../test/run-in.ts";
import { runCommand } from "../../src/bin/run-command.ts";

const bin = fileURLToPath(new URL("../../dist/bin/main.js", import.meta.url));

/** Runs the command line in this process, in a folder. */
export const runBin = (args: readonly string[], cwd: string): Promise<Run> =>
  runIn(cwd, () => printedBy((output) => runCommand(args, output)));

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
