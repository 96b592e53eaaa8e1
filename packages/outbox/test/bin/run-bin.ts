import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Run } from "../../../../test/printed.ts";

const BIN = fileURLToPath(new URL("../../dist/bin/main.js", import.meta.url));

/** Runs the built command line in a process of its own, as npx does, on a database. */
export async function runBin(args: readonly string[], url: string): Promise<Run> {
  const child = spawn(process.execPath, [BIN, ...args], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code: code as number, stdout, stderr };
}
