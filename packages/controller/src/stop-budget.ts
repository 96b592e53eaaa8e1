/**
 * Default times of a graceful stop, in milliseconds, in one place because they must add up.
 *
 * Platforms grant 30 s between SIGTERM and SIGKILL. The longest chain in one group of a manager is an
 * elector whose work is a controller: the controller drains for `GRACE` and waits `ABORT_GRACE` for
 * aborted reconciles, then the elector takes at most `RELEASE_TIMEOUT` to release the lease. A manager
 * stops all its groups within `STOP_TIMEOUT`, and exits before the platform kills the process.
 */

/** Maximum time of queued and running keys after the abort of a controller. */
export const GRACE = 15_000;

/** How long a controller waits for a reconcile after aborting its signal. */
export const ABORT_GRACE = 5_000;

/** How long an elector tries to release its lease. */
export const RELEASE_TIMEOUT = 5_000;

/** How long all groups of a manager may take to stop, together. */
export const STOP_TIMEOUT = 28_000;
