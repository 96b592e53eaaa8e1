import { watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { type Clock, onAbort } from "@holdfast/clock";

/** What {@link watchFile} needs besides the file. */
export interface WatchFileOptions {
  readonly clock: Clock;
  /** How long the file must be left alone before a change counts, in milliseconds. */
  readonly settle: number;
  readonly signal: AbortSignal;
}

/**
 * Calls `onChange` after each change of a file, once per burst.
 *
 * It is the directory that is watched: many editors write a new file and rename it over the old
 * one, and a watch on the old one would then watch nothing.
 *
 * @returns a promise that resolves when `signal` aborts, and rejects when watching is not possible
 */
export async function watchFile(
  file: string,
  onChange: () => void,
  { clock, settle, signal }: WatchFileOptions,
): Promise<void> {
  const path = resolve(file);
  using timer = clock.afterFunc(settle, onChange, { label: `change of ${file}` });
  timer.stop();
  const watcher = watch(dirname(path), (_event, name) => {
    if (name === null || name === basename(path)) timer.reset(settle);
  });
  try {
    await new Promise<void>((resolve, reject) => {
      watcher.once("error", reject);
      onAbort(signal, () => resolve());
    });
  } finally {
    watcher.close();
  }
}
