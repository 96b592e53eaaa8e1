/**
 * What a {@link Manager} does: `"idle"` until it runs, then `"starting"`, `"running"` when all are
 * ready, `"stopping"`, and `"stopped"` for good.
 */
export type ManagerState = "idle" | "starting" | "running" | "stopping" | "stopped";

/**
 * What a runnable does: `"waiting"` until its group starts, then `"starting"`, `"ready"`,
 * `"stopping"` when it was told to stop and has not ended, and `"stopped"` or `"failed"`.
 */
export type RunnableState = "waiting" | "starting" | "ready" | "stopping" | "stopped" | "failed";

/** A {@link Manager} at one moment, as plain data that a health endpoint can serve. */
export interface ManagerStatus {
  /** What the manager does. */
  readonly state: ManagerState;

  /** All runnables, in the order in which they start. */
  readonly runnables: readonly RunnableStatus[];
}

/** A runnable at one moment. */
export interface RunnableStatus {
  /** What it is called. */
  readonly name: string;

  /** The group it is in. */
  readonly group: string;

  /** What it does. */
  readonly state: RunnableState;
}
