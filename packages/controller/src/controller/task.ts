/** What the queue of a controller holds: an item, and why it was added. */
export interface Task<Item> {
  readonly key: string;
  readonly item: Item;
  readonly reason: string;
}
