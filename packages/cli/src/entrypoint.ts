import { readFileSync } from "node:fs";
import { basename } from "node:path";

/**
 * Why a container or a service that starts this process does not end it well, and the next step; undefined if it does.
 * Known on Linux.
 */
export function entrypointProblem(): string | undefined {
  if (process.pid === 1) return "runs as pid 1: use docker run --init to reap orphans";
  // npm runs a shell that runs this program, or that runs npm again: the outermost is meant.
  let npm: number | undefined;
  for (let pid = process.ppid; pid > 0; pid = parentOf(pid)) {
    const [program = "", script = ""] = commandOf(pid);
    if (isNpm(program, script)) npm = pid;
    else if (!/^-?(?:ba|da|a|z|k)?sh$/.test(basename(program))) break;
  }
  if (npm === undefined || (npm !== 1 && parentOf(npm) !== 1)) return undefined;
  return "npm is the entrypoint, and loses SIGTERM: start node_modules/.bin/holdfast in place of npx or npm run";
}

/** npm writes all of its command line in the place of its program. */
function isNpm(program: string, script: string): boolean {
  const [title = ""] = program.split(" ");
  const isNode = /^node/.test(basename(title));
  return /^np[mx](?:-cli\.js)?$/.test(basename(isNode ? script : title));
}

/** The program of a process, and its arguments. */
function commandOf(pid: number): readonly string[] {
  return read(pid, "cmdline").split("\0");
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
