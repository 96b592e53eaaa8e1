import type { LogEntry } from "../../web/log-entry.ts";
import type { Invariant } from "../harness/invariants.ts";
import type { FailingKey, KeyInFlight } from "../harness/replica/report.ts";

/** Plain data of a run for its page. Instants are milliseconds since the epoch. */
export interface Snapshot {
  readonly at: number;
  /** Display name of the API server. */
  readonly api: string;
  /** Arguments for kubectl to reach the API server. */
  readonly kubectl: string;
  /** Whether the buttons can stop and compact the API server. */
  readonly canStopApi: boolean;
  readonly records: number;
  readonly replicas: readonly ReplicaSnapshot[];
  readonly lease: LeaseSnapshot | undefined;
  readonly queue: { readonly size: number; readonly delayed: number };
  readonly inFlight: readonly KeyInFlight[];
  readonly failing: readonly FailingKey[];
  readonly provider: ProviderSnapshot;
  /** Differences between records and provider. */
  readonly drift: {
    readonly now: number;
    readonly history: readonly number[];
    /** Milliseconds. */
    readonly longest: number;
  };
  readonly totals: {
    readonly faults: number;
    readonly edits: number;
    readonly reconciles: number;
    readonly failures: number;
    readonly handOvers: number;
  };
  readonly invariants: readonly Invariant[];
  readonly baseline: BaselineSnapshot | undefined;
  /** The latest faults and events, newest last. */
  readonly log: readonly LogEntry[];
}

export interface ReplicaSnapshot {
  readonly name: string;
  readonly pid: number | undefined;
  readonly state: "starting" | "standby" | "leader" | "paused" | "stopping" | "killed" | "gone";
  /** Fencing token of its term; undefined for a standby. */
  readonly token: number | undefined;
  /** Bytes. */
  readonly heap: number | undefined;
}

interface LeaseSnapshot {
  readonly holder: string;
  readonly token: number;
  readonly renewedAt: number;
}

export interface ProviderSnapshot {
  readonly records: number;
  /** Faults in force. */
  readonly faults: readonly string[];
  /** Requests in the last second. */
  readonly used: number;
  /** Quota in requests per second. */
  readonly rate: number;
  readonly refused: number;
}

/** The baseline: the official client's informer. */
export interface BaselineSnapshot {
  readonly state: "alive" | "dead";
  readonly reason: string | undefined;
  /** Milliseconds from its start to its death. */
  readonly after: number | undefined;
  readonly drift: number;
  readonly overlaps: number;
  readonly events: number;
  readonly errors: number;
}
