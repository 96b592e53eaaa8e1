import { readdirSync, readFileSync } from "node:fs";

/** A process that was started with the variable in its environment. */
export interface MarkedProcess {
  readonly pid: number;
  /** The value of the variable. */
  readonly value: string;
}

/** The value of a variable of a process; undefined if it has none, has ended, or belongs to another user. */
function variableOf(pid: string, name: string): string | undefined {
  try {
    const entries = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    return entries.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1);
  } catch {
    return undefined;
  }
}

/** All processes of this user that were started with a variable in their environment. */
export function processesWith(variable: string): readonly MarkedProcess[] {
  return readdirSync("/proc").flatMap((pid) => {
    const value = /^\d+$/.test(pid) ? variableOf(pid, variable) : undefined;
    return value === undefined ? [] : [{ pid: Number(pid), value }];
  });
}
