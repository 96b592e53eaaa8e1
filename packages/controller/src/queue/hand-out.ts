import type { QueueItem } from "./queue-item.ts";

/**
 * A key that a queue has handed out, to be worked on by whoever holds this and nobody else.
 *
 * It ends with {@link WorkItem.done}. Until then the key is not handed out again, whatever is added.
 * The end belongs to the hand-out and not to the key, so that calling it again, or late, cannot end
 * somebody else's: it does nothing.
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
  /** The latest item that was added of this key. */
  readonly item: Item;

  /** What the item is known by. */
  readonly key: string;

  /** The priority it was handed out with. */
  readonly priority: number;

  /** Says that the work is over, however it ended. The second call does nothing. */
  done(): void;

  /** The same as {@link WorkItem.done}, for `using`. */
  [Symbol.dispose](): void;
}

/** A hand-out as its queue sees it. */
export class Assignment<Item> implements WorkItem<Item> {
  readonly key: string;
  readonly item: Item;
  readonly priority: number;
  /** For the queue, until it is done: afterwards the record may be another key's. */
  readonly record: QueueItem<Item>;
  /** When it was handed out, if the queue has metrics. */
  readonly startedAt: number;
  /** Undefined once it is done. */
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

/** What was added of a key since it was handed out, for as long as that is not done. */
export function newerOf<Item>(handOut: WorkItem<Item>): Item | undefined {
  return (handOut as Assignment<Item>).record.item;
}

type Finish<Item> = (assignment: Assignment<Item>) => void;
