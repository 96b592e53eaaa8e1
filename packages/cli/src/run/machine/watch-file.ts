import type { Clock } from "@holdfast/clock";
import { every, withTimeout } from "@holdfast/wait";
import { fileState } from "../../system-call.ts";

/** Options for {@link watchFile}. */
export interface WatchFileOptions {
  readonly clock: Clock;
  /** Time between two looks at the file, in milliseconds. */
  readonly period: number;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** Identity and age of the file; rejects with the reason why there is none. By default asks the system. */
  readonly versionOf?: (file: string) => Promise<string>;
}

/**
 * Calls `onChange` at once, and after each change of a file or of its absence, once the file stays the
 * same for a period.
 *
 * It asks for the state of the path and not for events: events of a directory miss a change behind a
 * symlink, the swap of a ConfigMap, a replaced directory and most network file systems.
 *
 * @returns a promise that resolves when `signal` aborts
 */
export async function watchFile(
  file: string,
  onChange: () => void,
  { clock, period, signal, versionOf = systemVersion }: WatchFileOptions,
): Promise<void> {
  // A look may hang as long as its file system.
  const look = (): Promise<string> =>
    withTimeout(() => versionOf(file), Number.POSITIVE_INFINITY, { clock, signal }).catch(
      (error: Error) => error.message,
    );
  let told = await look();
  let seen = told;
  if (signal.aborted) return;
  onChange();
  for await (const _ of every(period, { clock, signal })) {
    const state = await look();
    if (signal.aborted) return;
    const isSettled = state === seen;
    seen = state;
    if (!isSettled || state === told) continue;
    told = state; // Taken before the read: a change during the read is the next change.
    onChange();
  }
}

/** Of the file at the end of all symlinks. */
async function systemVersion(file: string): Promise<string> {
  return (await fileState(file)).version;
}
