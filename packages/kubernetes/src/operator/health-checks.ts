import type { ElectionStatus, ShardsStatus } from "@holdfast/controller";
import type { InformerStatus } from "../cluster/cluster-status.ts";

/** How long an informer may go without an event, a bookmark or a list and count as ready, in milliseconds. */
const LONGEST_SILENCE = 900_000;

/**
 * Whether an informer has synced, has heard of the state of the server within 15 minutes, and may still list: a deleted
 * CRD and lost rights need somebody.
 */
export function isFollowing({ hasSynced, reflectors }: InformerStatus): boolean {
  return (
    hasSynced &&
    reflectors.every(
      ({ silentFor, isRefused }) =>
        !isRefused && silentFor !== undefined && silentFor <= LONGEST_SILENCE,
    )
  );
}

/**
 * Whether an elector, or shards, can do their part: the locks have responded within a lease. A standby is as ready as the
 * leader.
 */
export function canElect(
  { sinceAnswer }: Pick<ElectionStatus | ShardsStatus, "sinceAnswer">,
  leaseDuration: number,
): boolean {
  return sinceAnswer !== undefined && sinceAnswer <= leaseDuration;
}

/** Whether no work continues after the end of its lease. If some does, only a restart ends it. */
export function isWithinLease({
  overdue,
}: Pick<ElectionStatus | ShardsStatus, "overdue">): boolean {
  return overdue === 0;
}
