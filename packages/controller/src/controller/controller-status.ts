import type { DelayedKey } from "../queue/drain-report.ts";

/**
 * What a controller does. `"idle"` has not been run; `"stopping"` drains; `"stopped"` is over for good.
 */
export type ControllerState = "idle" | "running" | "paused" | "stopping" | "stopped";

/** What a source does: it runs, waits to be started again after a failure, or is over. */
export type SourceState = "idle" | "running" | "backing-off" | "stopping" | "ended";

/** An error that somebody should know of. */
export interface ErrorStatus {
  /** What it says. */
  readonly message: string;
  /** When it came, on the wall clock: milliseconds since the epoch. */
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
  /** For how long it has run, in milliseconds. */
  readonly age: number;
  /** See `Request.attempt`. */
  readonly attempt: number;
  /** See `Request.reason`. */
  readonly reason: string;
  /** Whether it was told to stop, and whether it has done so too late: then it has no worker. */
  readonly state: "running" | "stopping" | "stuck";
}

/** A source of a controller. */
export interface SourceStatus {
  /** Its name. */
  readonly name: string;
  /** What it does. */
  readonly state: SourceState;
  /** How often it was started again. */
  readonly restarts: number;
  /** Its last error, if there was one. */
  readonly lastError: ErrorStatus | undefined;
}

/** What a controller had not done when it stopped. */
export interface ControllerDrain<Item = string> {
  /** Whether everything was done that had been queued or in flight. */
  readonly finished: boolean;
  /** The keys of reconciles that did not stop. */
  readonly running: readonly string[];
  /** The keys that were still queued, the first in line first. */
  readonly queued: readonly string[];
  /** The keys that waited for their time, or were interrupted; the earliest first. */
  readonly delayed: readonly DelayedKey<Item>[];
}

/** What a controller does, as plain data: `JSON.stringify` it for a health endpoint. */
export interface ControllerStatus<Item = string> {
  /** Its name. */
  readonly name: string;
  /** What it does. */
  readonly state: ControllerState;
  /** Its workers. */
  readonly workers: {
    /** How many there are. */
    readonly total: number;
    /** How many of them are at work. */
    readonly busy: number;
  };
  /** Its queue. */
  readonly queue: {
    /** How many keys can be handed out now. */
    readonly size: number;
    /** How many keys wait for their time. */
    readonly delayed: number;
    /** How many keys are being worked on. */
    readonly inFlight: number;
  };
  /** What runs, the oldest first. */
  readonly inFlight: readonly InFlightStatus[];
  /** The last error of a reconcile, if there was one. */
  readonly lastError: ReconcileErrorStatus | undefined;
  /** Its sources, in the order they were given. */
  readonly sources: readonly SourceStatus[];
  /** What was left when it stopped; undefined until then. */
  readonly drain: ControllerDrain<Item> | undefined;
}
