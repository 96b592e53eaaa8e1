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
  /**
   * Place in the structure that it waits in: it is in one at most. Of a key that was added again while in
   * flight, its arrival.
   */
  heapSlot: number;
  /** Instant at which it began to wait for a worker. Undefined at first: a number would need room in each. */
  since: number | undefined;
}

/**
 * Created by a literal, not by a class: V8 learns that the objects of a literal grow old, and allocates
 * them among the old, so that young collections need not copy a million of them (ADR 0018).
 */
export function queueItem<Item>(): QueueItem<Item> {
  return { key: "", item: undefined, state: "idle", priority: 0, heapSlot: 0, since: undefined };
}
