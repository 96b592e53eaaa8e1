import { readFileSync } from "node:fs";

/**
 * Why a container or a service that starts this process does not end it well, and the next step; undefined if it does.
 * Known on Linux.
 */
export function entrypointProblem(): string | undefined {
  if (process.pid === 1) return "runs as pid 1: use docker run --init to reap orphans";
  const above = [process.ppid, parentOf(process.ppid)]; // npm runs a shell that runs this program.
  const npm = above.find((pid) => /\bnp[mx]\b/.test(commandOf(pid)));
  if (npm === undefined || (npm !== 1 && parentOf(npm) !== 1)) return undefined;
  return "npm is the entrypoint, and loses SIGTERM: start node_modules/.bin/holdfast in place of npx or npm run";
}

/** The beginning of a command line: the program, and its first two arguments. */
function commandOf(pid: number): string {
  return read(pid, "cmdline").split("\0", 3).join(" ").slice(0, 100);
}

function parentOf(pid: number): number {
  const [, parent = "0"] = /^PPid:\s+(\d+)$/m.exec(read(pid, "status")) ?? [];
  return Number(parent);
}

function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return ""; // It has ended, or there is no /proc.
  }
}
