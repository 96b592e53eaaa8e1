import type { DrainReport } from "../queue/work-queue-options.ts";

/** State of a controller. `"idle"` is before `run`; `"stopping"` drains; `"stopped"` is final. */
export type ControllerState = "idle" | "running" | "paused" | "stopping" | "stopped";

/**
 * State of a source. `"idle"` is before its start; `"waiting"` waits for its `ready`, and with it the controller;
 * `"backing-off"` waits for a restart after a failure; `"ended"` is final.
 */
export type SourceState = "idle" | "waiting" | "running" | "backing-off" | "stopping" | "ended";

/** The last error of a kind. */
export interface ErrorStatus {
  /** Its message. */
  readonly message: string;
  /** Time of the error on the wall clock: milliseconds since the epoch. */
  readonly at: number;
}

/** An error of a reconcile. */
export interface ReconcileErrorStatus extends ErrorStatus {
  /** Its key. */
  readonly key: string;
}

/** A reconcile that has not settled. */
export interface InFlightStatus {
  /** Its key. */
  readonly key: string;
  /** Time since it began, in milliseconds. */
  readonly age: number;
  /** See `ReconcileRequest.attempt`. */
  readonly attempt: number;
  /** See `ReconcileRequest.reason`. */
  readonly reason: string;
  /** `"stopping"` after the abort of its signal; `"stuck"` when it ignored that and lost its worker. */
  readonly state: "running" | "stopping" | "stuck";
}

/** A source of a controller. */
export interface SourceStatus {
  /** Its name. */
  readonly name: string;
  /** Its state. */
  readonly state: SourceState;
  /** Number of restarts. */
  readonly restarts: number;
  /** Its last error, if there was one. */
  readonly lastError: ErrorStatus | undefined;
}

/** Status of a controller as plain data: `JSON.stringify` it for a health endpoint. */
export interface ControllerStatus<Item = string> {
  /** Its name. */
  readonly name: string;
  /** Its state. */
  readonly state: ControllerState;
  /** Its workers. */
  readonly workers: {
    /** Number of workers. */
    readonly total: number;
    /** Number of workers that run a reconcile. */
    readonly busy: number;
  };
  /** Its queue. */
  readonly queue: {
    /** Number of keys that are queued. */
    readonly size: number;
    /** Number of keys that are delayed. */
    readonly delayed: number;
    /** Number of keys in flight. */
    readonly inFlight: number;
  };
  /** Reconciles that have not settled, the oldest first. */
  readonly inFlight: readonly InFlightStatus[];
  /** The last error of a reconcile, if there was one. */
  readonly lastError: ReconcileErrorStatus | undefined;
  /** Its sources, in the order of the option. */
  readonly sources: readonly SourceStatus[];
  /**
   * The keys left unfinished when `run` settled; undefined until then. `running` are the keys of reconciles
   * that ignored their signal; `delayed` includes the keys that the stop interrupted. Reconciles that end
   * later do not change it.
   */
  readonly drain: DrainReport<Item> | undefined;
}
