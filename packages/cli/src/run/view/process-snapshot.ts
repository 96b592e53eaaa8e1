import type { ProcessStatus } from "../core/status.ts";
import type { BackoffSpec } from "../manifest/manifest.ts";
import type { ProcessSnapshot } from "../web/snapshot.ts";
import { formatRun } from "./format-run.ts";

/**
 * A process as a page shows it.
 *
 * @param backoff - undefined if it is no longer in the manifest
 * @param epoch - the instant on the wall clock at which the monotonic one was 0
 */
export function processSnapshot(
  status: ProcessStatus,
  backoff: BackoffSpec | undefined,
  epoch: number,
): ProcessSnapshot {
  const { name, phase, ready, reason, pid, starts, lastRun, nextStart, waits } = status;
  const longest = Math.max(0, ...waits.map(({ planned }) => planned));
  return {
    name,
    phase,
    ready,
    reason,
    pid,
    waits,
    restarts: Math.max(starts - 1, 0),
    lastExit: lastRun && formatRun(lastRun),
    nextStart: nextStart === undefined ? undefined : epoch + nextStart,
    cap: backoff === undefined ? longest : backoff.cap * (1 + backoff.jitter),
  };
}
