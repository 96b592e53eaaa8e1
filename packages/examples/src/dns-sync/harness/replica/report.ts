import type { ApiAccess } from "../api/harness-api.ts";

/** Argument of a replica process. */
export interface ReplicaOptions {
  readonly name: string;
  readonly access: ApiAccess;
  readonly namespace: string;
  readonly providerUrl: string;
}

/** A failed key that waits for its next attempt. */
export interface FailingKey {
  readonly key: string;
  readonly attempt: number;
  readonly error: string;
  /** Time of the next attempt in milliseconds since the epoch. */
  readonly due: number;
}

/** A key in flight. `age` is in milliseconds. */
export interface KeyInFlight {
  readonly key: string;
  readonly age: number;
  readonly attempt: number;
}

/** Resource usage of a process. */
export interface Usage {
  /** Bytes after a garbage collection. */
  readonly heap: number;
  readonly sockets: number;
  /** Listeners on `process`. */
  readonly listeners: number;
  /** Warnings emitted by Node, for example about too many listeners. */
  readonly warnings: number;
}

/** Message of a replica, four times a second. */
export interface ReplicaReport {
  readonly type: "report";
  readonly hasSynced: boolean;
  /** Fencing token of its term; undefined for a standby. */
  readonly token: number | undefined;
  readonly queue: { readonly size: number; readonly delayed: number };
  readonly inFlight: readonly KeyInFlight[];
  readonly failing: readonly FailingKey[];
  /** Finished reconciles, including failures. */
  readonly reconciles: number;
  readonly failures: number;
  readonly usage: Usage | undefined;
}

/** Versions of cached objects by kind, namespace and name. */
export type CacheVersions = Readonly<Record<string, string>>;

/** Response to a {@link CacheQuery}. */
export interface CacheReport {
  readonly type: "caches";
  readonly id: number;
  readonly versions: CacheVersions;
}

/** An unexpected warning or error of the operator. */
export interface Note {
  readonly type: "note";
  readonly text: string;
}

/** Request of the parent for the versions in the caches. */
export interface CacheQuery {
  readonly id: number;
}
