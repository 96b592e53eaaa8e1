import { readdirSync, readFileSync } from "node:fs";

/** State of a pid on Linux. `startTime` tells a process from earlier ones with the same pid. */
export interface ProcessState {
  /** In ticks since the machine was booted. */
  readonly startTime: string;
  /** Whether it has ended, and only waits for its parent to hear of it. */
  readonly isZombie: boolean;
  readonly parent: number;
  readonly group: number;
}

/** The fields of `/proc/PID/stat` after the name, which may contain anything. */
const [STATE, PARENT, GROUP, START_TIME] = [0, 1, 2, 19];

/** @returns undefined if no process has the pid */
export function processState(pid: number): ProcessState | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return {
      startTime: fields[START_TIME] ?? "",
      isZombie: fields[STATE] === "Z",
      parent: Number(fields[PARENT]),
      group: Number(fields[GROUP]),
    };
  } catch {
    return undefined;
  }
}

/** This process, its ancestors and its group: what a supervisor must not stop. */
export function ownPids(): ReadonlySet<number> {
  const pids = new Set<number>([processState(process.pid)?.group ?? 0]);
  for (let pid = process.pid; pid > 0; pid = processState(pid)?.parent ?? 0) pids.add(pid);
  return pids;
}

/** The running processes of some process groups, without zombies. */
export function processesIn(groups: ReadonlySet<number>): readonly number[] {
  return pids().filter((pid) => {
    const state = processState(pid);
    return state !== undefined && groups.has(state.group) && !state.isZombie;
  });
}

/** The processes of this user that were started with a variable of one of these values in their environment. */
export function processesWith(variable: string, values: readonly string[]): readonly number[] {
  return pids().filter((pid) => {
    try {
      const entries = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      return values.some((value) => entries.includes(`${variable}=${value}`));
    } catch {
      return false; // It has ended, or belongs to another user.
    }
  });
}

function pids(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}
