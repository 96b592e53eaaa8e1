import { readFileSync } from "node:fs";

/** State of a pid on Linux. `startTime` tells a process from earlier ones with the same pid. */
export interface ProcessState {
  /** In ticks since the machine was booted. */
  readonly startTime: string;
  /** Whether it has ended, and only waits for its parent to hear of it. */
  readonly isZombie: boolean;
}

/** The fields of `/proc/PID/stat` after the name, which may contain anything. */
const STATE = 0;
const START_TIME = 19;

/** @returns undefined if no process has the pid */
export function processState(pid: number): ProcessState | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { startTime: fields[START_TIME] ?? "", isZombie: fields[STATE] === "Z" };
  } catch {
    return undefined;
  }
}
