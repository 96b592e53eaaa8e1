// What Linux tells of processes in /proc. A file of a process that has ended meanwhile, or of another user, says nothing.
import { readdirSync, readFileSync } from "node:fs";

/** State of a pid on Linux. `startTime` tells a process from earlier ones with the same pid. */
export interface ProcessState {
  readonly pid: number;
  /** In ticks since the machine was booted. */
  readonly startTime: string;
  /** Whether it has ended, and only waits for its parent to hear of it. */
  readonly isZombie: boolean;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
}

/** The fields of `/proc/PID/stat` after the name, which may contain anything. */
const [STATE, PARENT, GROUP, SESSION, START_TIME] = [0, 1, 2, 3, 19];

/** The text of a file of a process; empty if it cannot be read. */
function textOf(pid: number | "self", file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

/** @returns undefined if no process has the pid */
export function processState(pid: number | "self"): ProcessState | undefined {
  const stat = textOf(pid, "stat");
  if (stat === "") return undefined;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    pid: Number.parseInt(stat, 10),
    startTime: fields[START_TIME] ?? "",
    isZombie: fields[STATE] === "Z" || fields[STATE] === "X",
    parent: Number(fields[PARENT]),
    group: Number(fields[GROUP]),
    session: Number(fields[SESSION]),
  };
}

/** This process, its ancestors and its group: what a supervisor must not stop. */
export function ownPids(): ReadonlySet<number> {
  const pids = new Set<number>([processState(process.pid)?.group ?? 0]);
  for (let pid = process.pid; pid > 0; pid = processState(pid)?.parent ?? 0) pids.add(pid);
  return pids;
}

/** All processes of the machine, without zombies. */
export function runningProcesses(): readonly ProcessState[] {
  return pids().flatMap((pid) => {
    const state = processState(pid);
    return state === undefined || state.isZombie ? [] : [state];
  });
}

/** The processes of this user that were started with a variable of one of these values in their environment. */
export function processesWith(variable: string, values: readonly string[]): readonly number[] {
  return pids().filter((pid) => hasVariable(pid, variable, values));
}

/** Whether a process was started with a variable of one of these values in its environment. */
function hasVariable(pid: number, variable: string, values: readonly string[]): boolean {
  const entries = textOf(pid, "environ").split("\0");
  return values.some((value) => entries.includes(`${variable}=${value}`));
}

/** Whether a process catches or ignores a signal. An interactive shell ignores SIGTERM. */
export function minds(pid: number, signal: number): boolean {
  const masks = [...textOf(pid, "status").matchAll(/^Sig(?:Cgt|Ign):\s+(\w+)$/gm)];
  return masks.some(([, mask]) => ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n);
}

/** Memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const [, kilobytes = 0] = /^VmRSS:\s+(\d+) kB$/m.exec(textOf(pid, "status")) ?? [];
  return Number(kilobytes) * 1_024;
}

/** The name of the program of a process, without its arguments; a question mark for none, and without /proc. */
export function nameOf(pid: number): string {
  return textOf(pid, "comm").trim() || "?";
}

/** The program of a process, and its arguments. */
export function commandOf(pid: number): readonly string[] {
  return textOf(pid, "cmdline").split("\0");
}

function pids(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}
