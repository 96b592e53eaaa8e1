import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The running children of a process. */
export function childrenOf(parent: number | undefined): number[] {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  return stdout.split("\n").flatMap((row) => {
    const [pid, of] = row.trim().split(/ +/).map(Number);
    return pid !== undefined && of === parent ? [pid] : [];
  });
}

/** Whether a process runs. A zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return process.platform !== "linux";
  }
}

/** The processes that outlive a minute: SIGKILL takes effect soon, not at once. */
export async function survivors(pids: readonly number[]): Promise<readonly number[]> {
  for (let attempt = 0; attempt < 6_000 && pids.some(isAlive); attempt++) await sleep(10);
  return pids.filter(isAlive);
}
