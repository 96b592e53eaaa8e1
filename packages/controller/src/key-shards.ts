import type { Leadership } from "./leadership.ts";

/** The term of a slot. */
export interface SlotLeadership extends Leadership {
  /** Number of the slot. */
  readonly slot: number;
}

/** Slots that divide keys over processes, as a controller sees them. `Shards` is one. */
export interface KeyShards {
  /** The slot of a key. */
  slotOf(key: string): number;

  /**
   * Has `lead` called for each slot that this process holds and will hold, until it is disposed. The slot is kept until
   * the promise that `lead` returns settles.
   */
  join(lead: (leadership: SlotLeadership) => unknown): Disposable;
}
