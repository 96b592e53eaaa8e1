/**
 * Phase of a {@link Manager}.
 *
 * | State | Meaning |
 * | --- | --- |
 * | `"idle"` | not run yet |
 * | `"starting"` | groups start, one after another |
 * | `"running"` | every runnable is ready |
 * | `"stopping"` | groups stop, one after another |
 * | `"stopped"` | has ended; a manager runs once |
 */
export type ManagerState = "idle" | "starting" | "running" | "stopping" | "stopped";

/**
 * Phase of a runnable.
 *
 * | State | Meaning |
 * | --- | --- |
 * | `"waiting"` | its group has not started |
 * | `"starting"` | runs, not ready yet |
 * | `"ready"` | runs |
 * | `"stopping"` | was aborted and has not ended |
 * | `"stopped"` | has ended |
 * | `"failed"` | has rejected |
 */
export type RunnableState = "waiting" | "starting" | "ready" | "stopping" | "stopped" | "failed";

/** State of a {@link Manager}, as plain data for a health endpoint. */
export interface ManagerStatus {
  /** Phase of the manager. */
  readonly state: ManagerState;

  /** All runnables, in the order in which they start. */
  readonly runnables: readonly RunnableStatus[];
}

/** State of a runnable. */
export interface RunnableStatus {
  /** Name of the runnable. */
  readonly name: string;

  /** Name of its group. */
  readonly group: string;

  /** Phase of the runnable. */
  readonly state: RunnableState;
}
