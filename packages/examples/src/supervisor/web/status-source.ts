import type { Snapshot } from "./snapshot.ts";

/** Where a page learns how things are. */
export interface StatusSource {
  /** How things are now. */
  snapshot(): Snapshot;
  /** Calls `listener` after each change, until what it returns is disposed of. */
  onChange(listener: () => void): Disposable;
}
