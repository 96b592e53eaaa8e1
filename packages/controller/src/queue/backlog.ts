import type { Clock, PassiveClock } from "@holdfast/clock";
import { DelayedItems } from "./delayed-items.ts";
import { FairItems } from "./fair-items.ts";
import {
  isDelayed,
  isWaiting,
  type QueueItem,
  queueItem,
  whenAdded,
  whenCancelled,
  whenDone,
  whenPostponed,
} from "./item-state.ts";
import { ReadyItems } from "./ready-items.ts";
import type { DelayedKey, QueueMetrics, WorkInFlight } from "./work-queue-options.ts";

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

/** Options for a {@link Backlog}. */
export interface BacklogOptions<Item> {
  readonly name: string;
  readonly clock: Clock;
  readonly aging: number;
  /** The group of a key. Undefined if groups do not take turns. */
  readonly fairBy: ((key: string) => string) | undefined;
  /** Undefined if there are none: then the clock is not read for them. */
  readonly metrics: QueueMetrics | undefined;
  /** Called when keys have become due. */
  readonly onDue: () => void;
  /** Called when a work item is done; calls {@link Backlog.finish}. */
  readonly onDone: (workItem: IssuedWorkItem<Item>) => void;
}

/** Every key of a queue and its state. Knows no promise: those are in the queue. */
export class Backlog<Item> {
  /** Records of all keys that are not idle, and of the key that became idle last. */
  readonly #records = new Map<string, QueueItem<Item>>();
  /** Its record is kept for the same key, added again as soon as it is done, or for the next one (ADR 0045). */
  #lastIdle: QueueItem<Item> | undefined = undefined;
  readonly #ready: ReadyItems<Item> | FairItems<Item>;
  /** The same, if groups take turns: it makes the records. */
  readonly #fair: FairItems<Item> | undefined;
  readonly #delayed: DelayedItems<QueueItem<Item>>;
  readonly #work: InFlight;
  readonly #clock: Clock;
  readonly #metrics: QueueMetrics | undefined;
  readonly #onDone: (workItem: IssuedWorkItem<Item>) => void;
  /** Whether the clock is read when a key is queued. A read costs as much as the rest (ADR 0045). */
  #isTimed: boolean;
  #isRanked = false;
  #isClosed = false;
  #inFlight = 0;
  /** Number of keys that wait to be taken: queued, or in flight and added again. */
  #waiting = 0;

  constructor({ name, clock, aging, fairBy, metrics, onDue, onDone }: BacklogOptions<Item>) {
    this.#clock = clock;
    this.#metrics = metrics;
    this.#onDone = onDone;
    this.#isTimed = metrics !== undefined;
    this.#fair = fairBy === undefined ? undefined : new FairItems(aging, fairBy);
    this.#ready = this.#fair ?? new ReadyItems(aging);
    this.#work = new InFlight(clock);
    this.#delayed = new DelayedItems(clock, name, (now) => {
      this.#takeDue(now);
      onDue();
    });
    metrics?.watch(this.#work);
  }

  get size(): number {
    return this.#ready.size;
  }

  /** Whether no key is queued, or will be when its work is done. */
  get isEmpty(): boolean {
    return this.#waiting === 0;
  }

  /** Whether no key is queued or in flight, nor delayed, unless it is closed. */
  get isIdle(): boolean {
    const isAtRest = this.#waiting === 0 && this.#inFlight === 0;
    return isAtRest && (this.#isClosed || this.#delayed.size === 0);
  }

  get delayed(): number {
    return this.#delayed.size;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Queues a key now. */
  add(key: string, item: Item, priority: number): void {
    if (this.#isClosed) return;
    if (priority !== 0) this.#rank();
    const record = this.#recordOf(key, item);
    const { state } = record;
    record.state = whenAdded(state);
    if (isWaiting(state)) {
      this.#raise(record, priority);
      return;
    }
    record.priority = isDelayed(state) ? Math.max(record.priority, priority) : priority;
    if (isDelayed(state)) this.#delayed.remove(record);
    this.#count(record, this.#now());
  }

  /** Queues a key in `delay` milliseconds, more than 0. */
  postpone(key: string, item: Item, delay: number, priority: number): void {
    if (this.#isClosed && isWaiting(this.#records.get(key)?.state)) return;
    if (priority !== 0) this.#rank();
    const record = this.#recordOf(key, item);
    const { state } = record;
    record.state = whenPostponed(state);
    if (isWaiting(state)) {
      this.#raise(record, priority);
    } else if (isDelayed(state)) {
      record.priority = Math.max(record.priority, priority);
      this.#delayed.advance(record, delay);
    } else {
      record.priority = priority;
      this.#delayed.add(record, delay);
    }
    this.#metrics?.retried();
  }

  /** The item that is handed out next for the key; undefined if there is none. */
  nextOf(key: string): Item | undefined {
    return this.#records.get(key)?.item;
  }

  /** Cancels the delay of a key; false if it was not delayed. */
  cancel(key: string): boolean {
    const record = this.#records.get(key);
    if (record === undefined || !isDelayed(record.state)) return false;
    record.state = whenCancelled(record.state);
    record.item = undefined;
    this.#delayed.remove(record);
    if (record.state === "idle") this.#retire(record);
    return true;
  }

  take(): WorkItem<Item> | undefined {
    const record = this.#ready.pop();
    if (record === undefined) return undefined;
    const now = this.#now();
    const workItem = new IssuedWorkItem(record, record.item as Item, now, this.#onDone);
    record.state = "processing";
    record.item = undefined;
    this.#inFlight++;
    this.#waiting--;
    if (this.#metrics !== undefined) this.#work.add(workItem);
    this.#metrics?.depth(-1, record.priority);
    this.#metrics?.started(now - (record.since as number));
    return workItem;
  }

  finish(workItem: IssuedWorkItem<Item>): void {
    const { record } = workItem;
    this.#inFlight--;
    record.state = whenDone(record.state);
    if (record.state === "idle") this.#retire(record);
    else if (record.state === "queued") this.#ready.push(record);
    if (this.#metrics !== undefined) {
      this.#work.delete(workItem);
      this.#metrics.finished(this.#clock.monotonic() - workItem.startedAt);
    }
  }

  /** From now on nothing is added or becomes due. */
  close(): void {
    this.#isClosed = true;
    this.#delayed.stop();
  }

  end(): void {
    this.#metrics?.ended();
  }

  keysInFlight(): string[] {
    const records = [...this.#records.values()];
    return records.filter(({ state }) => state.startsWith("processing")).map(({ key }) => key);
  }

  /** The queued keys, and those added again while in flight. */
  queuedKeys(): string[] {
    const dirty = [...this.#records.values()].filter(({ state }) => state === "processing+dirty");
    return [...this.#ready.keys(), ...dirty.map(({ key }) => key)];
  }

  keysDelayed(): DelayedKey<Item>[] {
    const now = this.#clock.monotonic();
    return this.#delayed.sorted().map((record) => ({
      key: record.key,
      item: record.item as Item,
      after: Math.max(0, this.#delayed.deadlineOf(record) - now),
    }));
  }

  /** At the first use of a priority: from now on the waiting time of a key matters. */
  #rank(): void {
    if (this.#isRanked) return;
    this.#isRanked = true;
    this.#isTimed = true;
    this.#ready.startTimes(this.#clock.monotonic());
  }

  #now(): number {
    return this.#isTimed ? this.#clock.monotonic() : 0;
  }

  #recordOf(key: string, item: Item): QueueItem<Item> {
    const known = this.#records.get(key);
    if (known !== undefined) {
      // Its group may be another one since it was last queued.
      if (known.state === "idle") this.#fair?.itemOf(key, item, known);
      known.item = item;
      return known;
    }
    const idle = this.#lastIdle?.state === "idle" ? this.#lastIdle : undefined;
    const record = this.#fair?.itemOf(key, item, idle) ?? idle ?? queueItem(key, item);
    this.#records.set(key, record);
    // Afterwards: a map that becomes empty makes a new table.
    if (idle === undefined) return record;
    this.#records.delete(idle.key);
    idle.key = key;
    idle.item = item;
    return idle;
  }

  /** Counts a key that now waits to be taken; one in flight is queued when it is done, as of now. */
  #count(record: QueueItem<Item>, since: number): void {
    record.since = since;
    record.arrival = this.#ready.arrive();
    if (record.state === "queued") this.#ready.push(record);
    this.#waiting++;
    this.#metrics?.added();
    this.#metrics?.depth(1, record.priority);
  }

  #raise(record: QueueItem<Item>, priority: number): void {
    const before = record.priority;
    if (priority <= before) return;
    if (record.state === "queued") this.#ready.raise(record, priority, this.#now());
    else record.priority = priority;
    this.#metrics?.depth(-1, before);
    this.#metrics?.depth(1, priority);
  }

  #takeDue(now: number): void {
    while (this.#delayed.deadline <= now) {
      // A deadline is a number with a fraction, which is an object of its own in each record.
      const since = this.#isTimed ? this.#delayed.deadline : 0;
      const record = this.#delayed.pop();
      record.state = whenAdded(record.state);
      this.#count(record, since);
    }
  }

  #retire(record: QueueItem<Item>): void {
    const last = this.#lastIdle;
    this.#lastIdle = record;
    if (last !== record && last?.state === "idle") this.#records.delete(last.key);
  }
}

/** Work items that are taken and not done, the oldest first. For metrics. */
class InFlight implements WorkInFlight {
  readonly #clock: PassiveClock;
  readonly #work = new Set<{ readonly startedAt: number }>();

  constructor(clock: PassiveClock) {
    this.#clock = clock;
  }

  get unfinished(): number {
    const now = this.#clock.monotonic();
    let sum = 0;
    for (const { startedAt } of this.#work) sum += now - startedAt;
    return sum;
  }

  get longestRunning(): number {
    const [first] = this.#work;
    return first === undefined ? 0 : this.#clock.monotonic() - first.startedAt;
  }

  add(work: { readonly startedAt: number }): void {
    this.#work.add(work);
  }

  delete(work: { readonly startedAt: number }): void {
    this.#work.delete(work);
  }
}
