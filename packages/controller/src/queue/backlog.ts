import type { Clock, PassiveClock } from "@holdfast/clock";
import { endsWithin } from "@holdfast/wait/limit";
import { Waiters } from "../waiters.ts";
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
import type {
  DrainOptions,
  DrainReport,
  QueueMetrics,
  ResolvedWorkQueueOptions,
  WorkInFlight,
} from "./work-queue-options.ts";

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
  /**
   * Has the item that was added with the key since it was taken. Until the item is done: afterwards the record may be
   * another key's.
   */
  readonly record: QueueItem<Item>;
  /** When the item was taken, if the queue has metrics. */
  readonly startedAt: number;
  /** Undefined once the item is done. */
  #backlog: Backlog<Item> | undefined;

  constructor(record: QueueItem<Item>, item: Item, startedAt: number, backlog: Backlog<Item>) {
    this.#backlog = backlog;
    this.record = record;
    this.key = record.key;
    this.item = item;
    this.priority = record.priority;
    this.startedAt = startedAt;
  }

  done(): void {
    const backlog = this.#backlog;
    this.#backlog = undefined;
    backlog?.finish(this);
  }

  [Symbol.dispose](): void {
    this.done();
  }
}

type MaybeWork<Item> = IssuedWorkItem<Item> | undefined;

/** Options for a {@link Backlog}, checked. */
export type BacklogOptions = Omit<ResolvedWorkQueueOptions<never>, "keyOf" | "limiter">;

/** The queue behind a `WorkQueue` and a controller: every key with its state, and who waits for keys. Its callers check. */
export class Backlog<Item> {
  /** Number of keys that are taken and not done. */
  inFlight = 0;
  isShutDown = false;
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
  /** Pending calls of `next`. */
  readonly #nexts = new Waiters<MaybeWork<Item>>();
  /** Pending calls of `idle` and `drain`. */
  readonly #idles = new Waiters<void>();
  /** Whether the clock is read when a key is queued. A read costs as much as the rest (ADR 0045). */
  #isTimed: boolean;
  #isRanked = false;
  #hasEnded = false;
  #isServing = false;
  /** Number of keys that wait to be taken: queued, or in flight and added again. */
  #waiting = 0;

  constructor({ name, clock, aging, fairBy, metrics }: BacklogOptions) {
    this.#clock = clock;
    this.#metrics = metrics;
    this.#isTimed = metrics !== undefined;
    this.#fair = fairBy === undefined ? undefined : new FairItems(aging, fairBy);
    this.#ready = this.#fair ?? new ReadyItems(aging);
    this.#work = new InFlight(clock);
    this.#delayed = new DelayedItems(clock, name, (now) => {
      this.#takeDue(now);
      this.#serve();
    });
    metrics?.watch(this.#work);
  }

  get size(): number {
    return this.#ready.size;
  }

  get delayed(): number {
    return this.#delayed.size;
  }

  /** Queues a key in `after` milliseconds, or now. No argument has a default value: each key would pay for it. */
  add(key: string, item: Item, after: number, priority: number): void {
    if (after > 0) {
      this.#postpone(key, item, after, priority);
      return;
    }
    if (this.isShutDown) return;
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
    this.#serve();
  }

  #postpone(key: string, item: Item, delay: number, priority: number): void {
    if (this.isShutDown && isWaiting(this.#records.get(key)?.state)) return;
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
    this.#settleIdle();
    return true;
  }

  take(): MaybeWork<Item> {
    const record = this.#ready.pop();
    if (record === undefined) return undefined;
    const now = this.#now();
    const workItem = new IssuedWorkItem(record, record.item as Item, now, this);
    record.state = "processing";
    record.item = undefined;
    this.inFlight++;
    this.#waiting--;
    if (this.#metrics !== undefined) this.#work.add(workItem);
    this.#metrics?.depth(-1, record.priority);
    this.#metrics?.started(now - (record.since as number));
    return workItem;
  }

  finish(workItem: IssuedWorkItem<Item>): void {
    const { record } = workItem;
    this.inFlight--;
    record.state = whenDone(record.state);
    if (record.state === "idle") this.#retire(record);
    else if (record.state === "queued") this.#ready.push(record);
    if (this.#metrics !== undefined) {
      this.#work.delete(workItem);
      this.#metrics.finished(this.#clock.monotonic() - workItem.startedAt);
    }
    this.#serve();
    this.#settleIdle();
  }

  /** The next key, or a promise of it; undefined once there will be none. It rejects with `signal.reason`. */
  next(signal: AbortSignal | undefined): MaybeWork<Item> | Promise<MaybeWork<Item>> {
    if (this.#nexts.size === 0) {
      const next = this.take();
      if (next !== undefined || this.#isOver) return next;
    }
    return this.#nexts.wait(signal);
  }

  /** Resolves when no key is queued or in flight, nor delayed, or when the queue has ended. */
  async idle(signal: AbortSignal | undefined): Promise<void> {
    if (!this.#isIdle && !this.#hasEnded) await this.#idles.wait(signal);
  }

  /** From now on nothing is added or becomes due. */
  shutDown(): void {
    if (this.isShutDown) return;
    this.isShutDown = true;
    this.#delayed.stop();
    this.#serve();
    this.#settleIdle();
  }

  /** Shuts down, and waits until the keys that are queued or in flight are done. */
  async drain(options: DrainOptions): Promise<DrainReport<Item>> {
    const { timeout = Number.POSITIVE_INFINITY, signal } = options;
    this.shutDown();
    const idle = (expired: AbortSignal): Promise<void> => this.#idles.wait(expired);
    const limits = { signal, clock: this.#clock, label: "drain" };
    if (!this.#isIdle) await endsWithin(idle, timeout, limits);
    this.#end();
    const now = this.#clock.monotonic();
    const records = [...this.#records.values()];
    const running = records.filter(({ state }) => state.startsWith("processing"));
    const dirty = running.filter(({ state }) => state === "processing+dirty");
    return {
      finished: this.#isIdle,
      running: running.map(keyOf),
      queued: [...this.#ready.keys(), ...dirty.map(keyOf)],
      delayed: this.#delayed.sorted().map((record) => ({
        key: record.key,
        item: record.item as Item,
        after: Math.max(0, this.#delayed.deadlineOf(record) - now),
      })),
    };
  }

  /** Whether no key is queued or in flight, nor delayed, unless it is shut down. */
  get #isIdle(): boolean {
    const isAtRest = this.#waiting === 0 && this.inFlight === 0;
    return isAtRest && (this.isShutDown || this.#delayed.size === 0);
  }

  /** Whether no key will be handed out any more. */
  get #isOver(): boolean {
    return this.isShutDown && this.#waiting === 0;
  }

  #settleIdle(): void {
    if (!this.#isIdle) return;
    if (this.isShutDown) this.#end();
    else this.#idles.resolveAll();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#metrics?.ended();
    this.#idles.resolveAll();
  }

  /**
   * Serves pending calls of `get` after the current synchronous code, so that priorities within one burst
   * are honoured.
   */
  #serve(): void {
    if (this.#isServing || this.#nexts.size === 0) return;
    this.#isServing = true;
    // Not queueMicrotask: the fake timers of a test runner may fake it.
    void Promise.resolve().then(() => {
      this.#isServing = false;
      while (this.#nexts.size > 0) {
        const next = this.take();
        if (next === undefined && !this.#isOver) return;
        this.#nexts.resolveFirst(next);
      }
    });
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

function keyOf({ key }: { readonly key: string }): string {
  return key;
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
