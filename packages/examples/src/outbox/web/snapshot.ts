import type { MessageStatus } from "@holdfast/outbox";
import type { LogEntry } from "../../web/log-entry.ts";
import type { Holding } from "../observe.ts";
import type { LedgerCounts } from "../receiver/ledger.ts";

/** A run as its page shows it: plain data. Instants are milliseconds since the epoch. */
export interface Snapshot {
  readonly at: number;
  /** The database and the receiver, for people. */
  readonly parts: string;
  readonly state: "running" | "settled" | "stopping";
  /** The reason why the tables could not be read; undefined if they were. */
  readonly trouble: string | undefined;
  readonly orders: { readonly total: number; readonly placed: number };
  readonly messages: Readonly<Record<MessageStatus, number>>;
  readonly received: LedgerCounts;
  readonly workers: readonly WorkerSnapshot[];
  readonly killed: number;
  readonly lock: LockSnapshot | undefined;
  /** The latest changes, the newest last. */
  readonly log: readonly LogEntry[];
}

/** A worker process, or one that has gone and left claims. */
export interface WorkerSnapshot {
  readonly name: string;
  readonly state: "starting" | "working" | "killed" | "gone";
  readonly pid: number | undefined;
  /** The number of messages it has claimed. */
  readonly claims: number;
  /** When the first of its claims ends. */
  readonly until: number | undefined;
}

/** The lock of the recovery task. */
export interface LockSnapshot extends Holding {
  /** `held`: it has a holder. `free`: the holder is the last one. */
  readonly state: "held" | "free";
}
