import type { SnapshotSource as Source, Span } from "@holdfast/kit/node";
import type { Phase } from "../core/phase.ts";

/** A supervisor as its page shows it: plain data. Instants are milliseconds since the epoch. */
export interface Snapshot {
  readonly at: number;
  /** The manifest. */
  readonly file: string;
  readonly pid: number;
  /** In the order of the manifest. */
  readonly processes: readonly ProcessSnapshot[];
  /** The latest changes, the newest last. */
  readonly log: readonly LogEntry[];
}

/** One process of the manifest. */
export interface ProcessSnapshot {
  readonly name: string;
  readonly phase: Phase;
  /** Undefined without a readiness check. */
  readonly ready: boolean | undefined;
  /** Why it is pending, or not ready. */
  readonly reason: string | undefined;
  readonly pid: number | undefined;
  readonly restarts: number;
  /** How it ended last, in words. */
  readonly lastExit: string | undefined;
  /** The last thing that it said before. */
  readonly lastWords: string | undefined;
  /** The last lines that it printed; undefined for other users of the machine. */
  readonly output: readonly string[] | undefined;
  /** What it was in the last hour: ready, running, waiting or down. */
  readonly spans: readonly Span[];
  readonly nextStart: number | undefined;
  /** The latest waits, in milliseconds; `measured` is undefined while the wait lasts. */
  readonly waits: readonly { readonly planned: number; readonly measured: number | undefined }[];
  /** The longest wait its backoff plans, in milliseconds. */
  readonly cap: number;
}

/** A line about a change. */
export interface LogEntry {
  readonly at: number;
  /** The process it is about; undefined if it is about the whole. */
  readonly name: string | undefined;
  readonly text: string;
}

/** The part of a snapshot that every user of the machine may see: nothing that a process prints. */
export function forOthers(snapshot: Snapshot): Snapshot {
  const processes = snapshot.processes.map((process) => {
    return { ...process, lastWords: undefined, output: undefined };
  });
  return { ...snapshot, processes };
}

/** Where a page gets its data from. */
export type SnapshotSource = Source<Snapshot>;
