import type { HeapEntry } from "@holdfast/clock/internal";
import type { ItemState } from "./item-state.ts";

/**
 * What a queue knows of one key, from when it is first added until nothing is left to do for it.
 *
 * There may be millions, so nothing is in it that is not needed while it waits for its time.
 */
export interface QueueItem<Item> extends HeapEntry {
  key: string;
  /**
   * The latest that was added: what is handed out next. Undefined once it is, so that one in flight
   * has an item only if something was added since.
   */
  item: Item | undefined;
  state: ItemState;
  /** The highest that was asked for since the key was last handed out. */
  priority: number;
  /** Where it is in what it waits in: it is in one at most. */
  heapSlot: number;
  /** Since when it is to be handed out. Begins as no number: that would be room for one in each. */
  since: number | undefined;
}

/**
 * Made by a literal and not by a class, because V8 learns of a literal that what it makes grows old,
 * and then makes it among the old: a million need not be copied there by young collections (ADR 0018).
 */
export function queueItem<Item>(): QueueItem<Item> {
  return { key: "", item: undefined, state: "idle", priority: 0, heapSlot: 0, since: undefined };
}
