import type { LogEntry } from "../../web/log-entry.ts";
import type { Phase } from "../core/phase.ts";

/** A supervisor as its page shows it: plain data. Instants are milliseconds since the epoch. */
export interface Snapshot {
  readonly at: number;
  /** The supervisor that made this snapshot. */
  readonly identity: string;
  /** The manifest. */
  readonly file: string;
  /** Undefined without a leader. */
  readonly leader: LeaderSnapshot | undefined;
  /** All supervisors of the manifest; one without `--replicas`. */
  readonly replicas: readonly ReplicaSnapshot[];
  /** In the order of the manifest; empty without a leader. */
  readonly processes: readonly ProcessSnapshot[];
  readonly queue: QueueSnapshot;
  /** The latest changes, the newest last. */
  readonly log: readonly LogEntry[];
}

/** The leader and its term. */
export interface LeaderSnapshot {
  readonly identity: string;
  /** The fencing token of its term. */
  readonly token: number;
  readonly since: number;
}

/** One supervisor of several. */
export interface ReplicaSnapshot {
  readonly identity: string;
  readonly role: "leader" | "standby" | "down";
  readonly pid: number | undefined;
  readonly restarts: number;
}

/** One process of the manifest. */
export interface ProcessSnapshot {
  readonly name: string;
  readonly phase: Phase;
  /** Undefined without a readiness check. */
  readonly ready: boolean | undefined;
  readonly pid: number | undefined;
  readonly restarts: number;
  /** How it ended last, in words. */
  readonly lastExit: string | undefined;
  readonly nextStart: number | undefined;
  /** The latest waits, in milliseconds; `measured` is undefined while the wait lasts. */
  readonly waits: readonly { readonly planned: number; readonly measured: number | undefined }[];
  /** The longest wait its backoff plans, in milliseconds. */
  readonly cap: number;
}

/** How much the controller has to do. */
export interface QueueSnapshot {
  readonly size: number;
  readonly delayed: number;
  readonly inFlight: number;
}
