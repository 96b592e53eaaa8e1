import type { QueueItem } from "./queue-item.ts";

/**
 * A key taken from a queue, and the exclusive right to work on it.
 *
 * The right ends with {@link WorkItem.done}. Until then the queue does not hand the key out again, even
 * if it is added. A second or late call of `done` does nothing: it cannot end the work of another holder.
 *
 * @example
 * ```ts
 * import { WorkQueue } from "@holdfast/controller";
 *
 * const queue = new WorkQueue();
 * queue.add("a");
 * const first = queue.take();
 * queue.add("a"); // comes back when the first is done
 * console.log(first?.key, queue.take()); // => a undefined
 * first?.done();
 * const second = queue.take();
 * first?.done();
 * console.log(second?.key, queue.inFlight); // => a 1
 * ```
 */
export interface WorkItem<Item> extends Disposable {
  /** The latest item that was added with this key. */
  readonly item: Item;

  /** The key of the item. */
  readonly key: string;

  /** The priority of the key when it was taken. */
  readonly priority: number;

  /** Ends the work, whether it succeeded or failed. A second call does nothing. */
  done(): void;

  /** Same as {@link WorkItem.done}, for `using`. */
  [Symbol.dispose](): void;
}

/** A work item as its queue sees it. */
export class IssuedWorkItem<Item> implements WorkItem<Item> {
  readonly key: string;
  readonly item: Item;
  readonly priority: number;
  /** For the queue, until the item is done: afterwards the record may be another key's. */
  readonly record: QueueItem<Item>;
  /** When the item was taken, if the queue has metrics. */
  readonly startedAt: number;
  /** Undefined once the item is done. */
  #finish: Finish<Item> | undefined;

  constructor(record: QueueItem<Item>, item: Item, startedAt: number, finish: Finish<Item>) {
    this.#finish = finish;
    this.record = record;
    this.key = record.key;
    this.item = item;
    this.priority = record.priority;
    this.startedAt = startedAt;
  }

  done(): void {
    const finish = this.#finish;
    this.#finish = undefined;
    finish?.(this);
  }

  [Symbol.dispose](): void {
    this.done();
  }
}

/** The item added with the key since it was taken; undefined if there is none. Valid until it is done. */
export function newerOf<Item>(workItem: WorkItem<Item>): Item | undefined {
  return (workItem as IssuedWorkItem<Item>).record.item;
}

type Finish<Item> = (workItem: IssuedWorkItem<Item>) => void;
