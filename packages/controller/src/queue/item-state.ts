import type { HeapEntry } from "@holdfast/kit";

/** State of a key in a queue. */
export type ItemState =
  /** The queue does not know the key. */
  | "idle"
  /** It waits for its time to come. */
  | "delayed"
  /** It waits to be taken. */
  | "queued"
  /** It is in flight. */
  | "processing"
  /** It is in flight, and delayed again. */
  | "processing+delayed"
  /** It is in flight, and queued again when done. */
  | "processing+dirty";

/** The state after an `add` without a delay, or when the time of the key has come. */
export function whenAdded(state: ItemState): ItemState {
  switch (state) {
    case "idle":
    case "delayed":
    case "queued":
      return "queued";
    case "processing":
    case "processing+delayed":
    case "processing+dirty":
      return "processing+dirty";
  }
}

/** The state after an `add` with a delay. A key that is queued anyway does not run twice. */
export function whenPostponed(state: ItemState): ItemState {
  switch (state) {
    case "idle":
    case "delayed":
      return "delayed";
    case "processing":
    case "processing+delayed":
      return "processing+delayed";
    case "queued":
    case "processing+dirty":
      return state;
  }
}

/** The state after the work item is done. */
export function whenDone(state: ItemState): ItemState {
  switch (state) {
    case "processing":
      return "idle";
    case "processing+delayed":
      return "delayed";
    case "processing+dirty":
      return "queued";
    case "idle":
    case "delayed":
    case "queued":
      return state;
  }
}

/** The state after the delay is cancelled. */
export function whenCancelled(state: ItemState): ItemState {
  switch (state) {
    case "delayed":
      return "idle";
    case "processing+delayed":
      return "processing";
    case "idle":
    case "queued":
    case "processing":
    case "processing+dirty":
      return state;
  }
}

/** Whether the key is delayed. */
export function isDelayed(state: ItemState): boolean {
  return state === "delayed" || state === "processing+delayed";
}

/** Whether the key waits to be taken, at once or when its work is done. */
export function isWaiting(state: ItemState | undefined): boolean {
  return state === "queued" || state === "processing+dirty";
}

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
