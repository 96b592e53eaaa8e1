/** An item in the queue of a controller, and why it was added. */
export interface Task<Item> {
  readonly item: Item;
  readonly reason: string;
}
