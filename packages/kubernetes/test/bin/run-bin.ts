import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../../dist/bin/main.js", import.meta.url));

export interface BinResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built command line, as npx does. */
export function runBin(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): BinResult {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    cwd,
    encoding: "utf8",
    timeout: 60_000,
    env: { ...process.env, ...env },
  });
  return { code: status, stdout, stderr };
}

/** The same while this process goes on, as a server for the command. */
export async function startBin(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<BinResult> {
  const child = spawn(process.execPath, [bin, ...args], { cwd, env: { ...process.env, ...env } });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code, stdout, stderr };
}
