import { spawnSync } from "node:child_process";

/** The processes that a process has started and that still run. */
export function childrenOf(parent: number | undefined): number[] {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  return stdout.split("\n").flatMap((row) => {
    const [pid, of] = row.trim().split(/ +/).map(Number);
    return pid !== undefined && of === parent ? [pid] : [];
  });
}
