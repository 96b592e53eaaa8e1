import type { HeapEntry } from "@holdfast/clock/internal";
import type { ItemState } from "./item-state.ts";

/**
 * Record of a key in a queue, from the first `add` until nothing is left to do for it.
 *
 * There may be millions, so it holds only data that a delayed key needs.
 */
export interface QueueItem<Item> extends HeapEntry {
  key: string;
  /**
   * The latest added item, which is handed out next. Undefined once it is taken, so that a key in flight
   * has an item only if one was added since.
   */
  item: Item | undefined;
  state: ItemState;
  /** The highest since the key was last taken. */
  priority: number;
  /** Slot in the heap that holds it, of the delayed or of the ready items; {@link NO_SLOT} in their line. */
  heapSlot: number;
  /** Counts the items that began to wait for a worker. Of two that are equal otherwise the lower one goes first. */
  arrival: number;
  /** Instant at which it began to wait for a worker. Undefined at first: a number would need room in each. */
  since: number | undefined;
}

/** The slot of an item that waits outside of a heap. */
export const NO_SLOT = -1;

/**
 * Created by a literal, not by a class: V8 learns that the objects of a literal grow old, and allocates
 * them among the old, so that young collections need not copy a million of them (ADR 0045).
 */
export function queueItem<Item>(key: string, item: Item): QueueItem<Item> {
  return { key, item, state: "idle", priority: 0, heapSlot: NO_SLOT, arrival: 0, since: undefined };
}
