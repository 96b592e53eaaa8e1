/** What ends a term that is over, by its signal `lost`. */
const checks = new WeakMap<AbortSignal, () => void>();

/** Lets {@link checkLease} find out whether the lease behind `lost` is over. */
export function onLeaseCheck(lost: AbortSignal, check: () => void): void {
  checks.set(lost, check);
}

/**
 * Aborts `lost` now if its lease is over. In a process that stood still, timers of work may fire before the timer of
 * the term: without this question they would begin work on a lease that another process holds.
 */
export function checkLease(lost: AbortSignal): void {
  checks.get(lost)?.();
}
