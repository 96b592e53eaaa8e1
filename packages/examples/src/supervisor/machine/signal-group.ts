import type { StopSignal } from "../core/process-table.ts";

/** Sends a signal to a process group, which may have ended meanwhile. */
export function signalGroup(leader: number, signal: StopSignal): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // ESRCH: the group is empty. EPERM (macOS): only zombies are left.
  }
}
