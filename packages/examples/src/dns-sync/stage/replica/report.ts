import type { ApiAccess } from "../api/stage-api.ts";

/** Argument of a replica process. */
export interface ReplicaOptions {
  readonly name: string;
  readonly access: ApiAccess;
  readonly namespace: string;
  readonly providerUrl: string;
}

/** A key that failed and waits for its next attempt. */
export interface FailingKey {
  readonly key: string;
  readonly attempt: number;
  readonly error: string;
  /** When it is tried again: milliseconds since the epoch. */
  readonly due: number;
}

/** A key in flight. */
export interface KeyInFlight {
  readonly key: string;
  readonly age: number;
  readonly attempt: number;
}

/** What a process uses. */
export interface Usage {
  /** Bytes of the heap after a garbage collection. */
  readonly heap: number;
  readonly sockets: number;
  /** Listeners of the process. */
  readonly listeners: number;
  /** Warnings of Node, such as of listeners that pile up. */
  readonly warnings: number;
}

/** What a replica tells, several times a second. */
export interface ReplicaReport {
  readonly type: "report";
  readonly hasSynced: boolean;
  /** Fencing token of its term; undefined for a standby. */
  readonly token: number | undefined;
  readonly queue: { readonly size: number; readonly delayed: number };
  readonly inFlight: readonly KeyInFlight[];
  readonly failing: readonly FailingKey[];
  /** Reconciles that have ended, and those that failed. */
  readonly reconciles: number;
  readonly failures: number;
  readonly usage: Usage | undefined;
}

/** Versions of cached objects by kind, namespace and name. */
export type CacheVersions = Readonly<Record<string, string>>;

/** Answer to a question of the parent. */
export interface CacheReport {
  readonly type: "caches";
  readonly id: number;
  readonly versions: CacheVersions;
}

/** Something that happened, for people. */
export interface Note {
  readonly type: "note";
  readonly text: string;
}

/** Question of the parent: what is in the caches? */
export interface CacheQuestion {
  readonly id: number;
}
