import { statSync } from "node:fs";
import type { Clock } from "@holdfast/clock";
import { every } from "@holdfast/wait";

/** Options for {@link watchFile}. */
export interface WatchFileOptions {
  readonly clock: Clock;
  /** Time between two looks at the file, in milliseconds. */
  readonly period: number;
  /** Ends the watch. */
  readonly signal: AbortSignal;
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
  { clock, period, signal }: WatchFileOptions,
): Promise<void> {
  let told = stateOf(file);
  let seen = told;
  onChange();
  for await (const _ of every(period, { clock, signal })) {
    const state = stateOf(file);
    const isSettled = state === seen;
    seen = state;
    if (!isSettled || state === told) continue;
    told = state; // Taken before the read: a change during the read is the next change.
    onChange();
  }
}

/** Identity and age of the file at the end of all symlinks, or the reason why there is none. */
function stateOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
  } catch (error) {
    return (error as Error).message;
  }
}
