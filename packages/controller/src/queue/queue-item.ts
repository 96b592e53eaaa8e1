import type { HeapEntry } from "@holdfast/clock/internal";
import type { ItemState } from "./item-state.ts";

/**
 * What a queue knows of one key, from when it is first added until nothing is left to do for it.
 *
 * There may be millions, so nothing is in it that is not needed while it waits for its time.
 */
export class QueueItem<Item> implements HeapEntry {
  key = "";
  /** The latest that was added: what is handed out next. Undefined once it is. */
  item: Item | undefined = undefined;
  state: ItemState = "idle";
  /** The highest that was asked for since the key was last handed out. */
  priority = 0;
  /** Where it is in what it waits in: it is in one at most. */
  heapSlot = 0;
  /** Since when it is to be handed out. Begins as no number: that would be room for one in each. */
  since: number | undefined = undefined;
}
