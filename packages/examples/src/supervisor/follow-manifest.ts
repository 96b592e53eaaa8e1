import type { Clock } from "@holdfast/clock";
import type { Report, SupervisorChange } from "./core/event.ts";
import type { Supervisor } from "./core/supervisor.ts";
import { watchFile } from "./machine/watch-file.ts";
import { readManifest } from "./manifest/read-manifest.ts";

/** What {@link followManifest} works with. */
export interface FollowManifestOptions {
  readonly clock: Clock;
  readonly supervisor: Supervisor;
  readonly report: Report;
  readonly signal: AbortSignal;
}

/** How long an edited manifest must be left alone before it counts, in milliseconds. */
const SETTLE = 100;

/** Applies every good edit of a manifest, and reports every bad one, until `signal` aborts. */
export function followManifest(
  file: string,
  { clock, supervisor, report, signal }: FollowManifestOptions,
): void {
  const tell = (change: SupervisorChange): void => report({ ...change, at: clock.monotonic() });
  const reload = (): void => {
    const read = readManifest(file);
    if (read.ok) supervisor.apply(read.manifest, file);
    else if ("errors" in read) tell({ type: "rejected", errors: read.errors });
    else tell({ type: "unreadable", file, message: read.message });
  };
  const onError = ({ message }: Error): void =>
    tell({ type: "unreadable", file, message: `edits are no longer seen: ${message}` });
  watchFile(file, reload, { clock, settle: SETTLE, signal, onError });
}
