import { type Clock, realClock } from "@holdfast/clock";
import {
  requireAbove,
  requireDelay,
  requireFinite,
  requireFunction,
  requireMethods,
  requireNotNegative,
  requireOptions,
  requireSignal,
} from "@holdfast/clock/internal";
import { ExponentialLimiter } from "../limit/exponential-limiter.ts";
import type { RateLimiter } from "../limit/rate-limiter.ts";
import { noQueueMetrics, type QueueMetrics } from "../metrics.ts";
import type { AddOptions } from "./add-options.ts";
import { DelayedItems } from "./delayed-items.ts";
import type { DrainReport } from "./drain-report.ts";
import { type DrainOptions, Drains } from "./drains.ts";
import { Getters } from "./getters.ts";
import { Assignment, type AssignmentOwner, type HandOut } from "./hand-out.ts";
import { InFlight } from "./in-flight.ts";
import { isDelayed, whenAdded, whenCancelled, whenDone, whenPostponed } from "./item-state.ts";
import { QueueItem } from "./queue-item.ts";
import { ReadyItems } from "./ready-items.ts";

/** How a {@link WorkQueue} behaves. */
export interface WorkQueueOptions<Item> {
  /**
   * A name for the queue: fake clocks print it when a test is stuck.
   *
   * @defaultValue `"queue"`
   */
  readonly name?: string | undefined;

  /**
   * What an item is known by. Items with the same key are the same piece of work, and the latest of
   * them is handed out. Required unless items are strings, because two objects that look the same
   * are not the same object, and a queue that compared objects would never de-duplicate.
   *
   * @defaultValue the item itself, if it is a string
   */
  readonly keyOf?: ((item: Item) => string) | undefined;

  /**
   * Says how long a retry waits.
   *
   * @defaultValue an {@link ExponentialLimiter} with its defaults, on the queue's clock
   */
  readonly limiter?: RateLimiter | undefined;

  /**
   * Measures delays and waiting.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Is told what happens.
   *
   * @defaultValue {@link noQueueMetrics}
   */
  readonly metrics?: QueueMetrics | undefined;

  /**
   * How much waiting is worth one step of priority, in milliseconds. Above 0; with `Infinity` a low
   * priority can wait for ever.
   *
   * @defaultValue `1_000`
   */
  readonly aging?: number | undefined;
}

/** The options of a {@link WorkQueue}, with a `keyOf` that only strings can do without. */
export type WorkQueueArguments<Item> = [Item] extends [string]
  ? [options?: WorkQueueOptions<Item>]
  : [options: WorkQueueOptions<Item> & { readonly keyOf: (item: Item) => string }];

/**
 * Keys that wait to be worked on: each once, however often it is added, and never by two at once.
 */
export class WorkQueue<Item = string> implements AsyncIterable<HandOut<Item>>, AsyncDisposable {
  readonly #clock: Clock;
  readonly #keyOf: (item: Item) => string;
  readonly #limiter: RateLimiter;
  /** Undefined if nobody listens, so that the clock is not read for nobody. */
  readonly #metrics: QueueMetrics | undefined;
  /** Of all keys that are not idle. */
  readonly #records = new Map<string, QueueItem<Item>>();
  readonly #ready: ReadyItems<Item>;
  readonly #delayed: DelayedItems<QueueItem<Item>>;
  readonly #inFlight: InFlight<Item>;
  readonly #getters = new Getters<HandOut<Item> | undefined>();
  readonly #drains = new Drains();
  readonly #owner: AssignmentOwner<Item>;
  /** Whether it is of interest since when an item waits. Reading a clock costs as much as a hand-out. */
  #isTimed: boolean;
  #isServing = false;
  #isShutDown = false;

  /**
   * @param options - see {@link WorkQueueOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(...[options = {} as WorkQueueOptions<Item>]: WorkQueueArguments<Item>) {
    requireOptions("options", options);
    const { name = "queue", keyOf = itself, clock = realClock, aging = 1_000 } = options;
    const { limiter = new ExponentialLimiter({ clock }), metrics = noQueueMetrics } = options;
    requireFunction("options.keyOf", keyOf);
    requireMethods("options.clock", clock, ["monotonic", "afterFunc"]);
    requireMethods("options.limiter", limiter, ["when", "forget", "requeues"]);
    requireMethods("options.metrics", metrics, Object.keys(noQueueMetrics));
    requireAbove("options.aging", aging, 0);
    this.#clock = clock;
    this.#keyOf = keyOf;
    this.#limiter = limiter;
    this.#metrics = metrics === noQueueMetrics ? undefined : metrics;
    this.#ready = new ReadyItems(aging);
    this.#delayed = new DelayedItems(clock, name, (now) => this.#onDue(now));
    this.#inFlight = new InFlight(clock);
    this.#owner = { finish: (assignment) => this.#finish(assignment) };
    this.#isTimed = this.#metrics !== undefined;
    this.#metrics?.watch(this.#inFlight);
  }

  /** How many keys wait to be handed out. */
  get size(): number {
    return this.#ready.size;
  }

  /** How many keys wait for their time. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** How many keys are handed out and not done. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Whether {@link WorkQueue.shutDown} or {@link WorkQueue.drain} was called. */
  get isShutDown(): boolean {
    return this.#isShutDown;
  }

  add(item: Item, options?: AddOptions): void {
    const key = this.#keyOfItem(item);
    if (options === undefined) {
      this.#addNow(key, item, 0);
      return;
    }
    requireOptions("options", options);
    const { after = 0, priority = 0 } = options;
    const delay = requireDelay("options.after", after);
    requireFinite("options.priority", priority);
    this.#add(key, item, delay, priority);
  }

  retry(item: Item, options: Omit<AddOptions, "after"> = {}): number {
    const key = this.#keyOfItem(item);
    requireOptions("options", options);
    const { priority = 0 } = options;
    requireFinite("options.priority", priority);
    const delay = this.#limiter.when(key);
    this.#add(key, item, delay, priority);
    return delay;
  }

  forget(item: Item): void {
    this.#limiter.forget(this.#keyOfItem(item));
  }

  requeues(item: Item): number {
    return this.#limiter.requeues(this.#keyOfItem(item));
  }

  cancel(item: Item): boolean {
    const record = this.#records.get(this.#keyOfItem(item));
    if (record === undefined || !isDelayed(record.state)) return false;
    record.state = whenCancelled(record.state);
    this.#delayed.remove(record);
    if (record.state === "idle") this.#records.delete(record.key);
    return true;
  }

  take(): HandOut<Item> | undefined {
    const record = this.#ready.pop();
    if (record === undefined) return undefined;
    record.state = "processing";
    const now = this.#now();
    const assignment = new Assignment(this.#owner, record, now);
    this.#inFlight.add(assignment);
    if (this.#metrics !== undefined) {
      this.#metrics.depth(-1, record.priority);
      this.#metrics.started(now - (record.since ?? now));
    }
    return assignment;
  }

  get(signal?: AbortSignal): Promise<HandOut<Item> | undefined> {
    if (signal !== undefined) {
      try {
        requireSignal("signal", signal);
      } catch (error) {
        return Promise.reject(error);
      }
      if (signal.aborted) return Promise.reject(signal.reason);
    }
    const handOut = this.#getters.size === 0 ? this.take() : undefined;
    if (handOut !== undefined || this.#isShutDown) return Promise.resolve(handOut);
    return this.#getters.wait(signal);
  }

  [Symbol.asyncIterator](): AsyncIterator<HandOut<Item>, undefined> {
    return {
      next: async () => {
        const value = await this.get();
        return value === undefined ? { done: true, value } : { done: false, value };
      },
    };
  }

  shutDown(): void {
    this.#isShutDown = true;
    this.#delayed.stop();
    this.#serveSoon();
  }

  async drain(options: DrainOptions = {}): Promise<DrainReport<Item>> {
    requireOptions("options", options);
    if (options.timeout !== undefined) requireNotNegative("options.timeout", options.timeout);
    if (options.signal !== undefined) requireSignal("options.signal", options.signal);
    this.shutDown();
    if (!this.#isIdle) await this.#drains.wait(this.#clock, options);
    return this.#report();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain();
  }

  get #isIdle(): boolean {
    return this.#ready.size === 0 && this.#inFlight.size === 0;
  }

  #keyOfItem(item: Item): string {
    const key = this.#keyOf(item);
    if (typeof key !== "string")
      throw new TypeError(`the key of an item must be a string, got a value of type ${typeof key}`);
    return key;
  }

  #now(): number {
    return this.#isTimed ? this.#clock.monotonic() : 0;
  }

  #add(key: string, item: Item, delay: number, priority: number): void {
    if (priority !== 0 && !this.#isTimed) {
      this.#isTimed = true;
      this.#ready.startTimes(this.#clock.monotonic());
    }
    if (delay > 0) this.#addLater(key, item, delay, priority);
    else this.#addNow(key, item, priority);
  }

  #addNow(key: string, item: Item, priority: number): void {
    if (this.#isShutDown) return;
    const record = this.#recordOf(key, item);
    const { state } = record;
    record.state = whenAdded(state);
    switch (state) {
      case "idle":
      case "processing":
        record.priority = priority;
        this.#count(record, this.#now());
        break;
      case "delayed":
      case "processing+delayed":
        record.priority = Math.max(record.priority, priority);
        this.#delayed.remove(record);
        this.#count(record, this.#now());
        break;
      case "queued":
      case "processing+dirty":
        this.#raise(record, priority);
        break;
    }
  }

  #addLater(key: string, item: Item, delay: number, priority: number): void {
    const deadline = this.#clock.monotonic() + delay;
    const record = this.#recordOf(key, item);
    const { state } = record;
    record.state = whenPostponed(state);
    switch (state) {
      case "idle":
      case "processing":
        record.priority = priority;
        this.#delayed.add(record, deadline);
        break;
      case "delayed":
      case "processing+delayed":
        record.priority = Math.max(record.priority, priority);
        this.#delayed.advance(record, deadline);
        break;
      case "queued":
      case "processing+dirty":
        this.#raise(record, priority);
        break;
    }
    this.#metrics?.retried();
  }

  #recordOf(key: string, item: Item): QueueItem<Item> {
    const known = this.#records.get(key);
    if (known !== undefined) {
      known.item = item;
      return known;
    }
    const record = new QueueItem(key, item);
    this.#records.set(key, record);
    return record;
  }

  /** A record has begun to wait for a hand-out, behind one that is under way or not. */
  #count(record: QueueItem<Item>, since: number): void {
    record.since = since;
    if (record.state === "queued") this.#enqueue(record);
    if (this.#metrics !== undefined) {
      this.#metrics.added();
      this.#metrics.depth(1, record.priority);
    }
  }

  #enqueue(record: QueueItem<Item>): void {
    this.#ready.push(record, record.since ?? 0);
    if (this.#getters.size > 0) this.#serveSoon();
  }

  #raise(record: QueueItem<Item>, priority: number): void {
    const before = record.priority;
    if (priority <= before) return;
    if (record.state === "queued") this.#ready.raise(record, priority, this.#now());
    else record.priority = priority;
    if (this.#metrics !== undefined) {
      this.#metrics.depth(-1, before);
      this.#metrics.depth(1, priority);
    }
  }

  #onDue(now: number): void {
    while (this.#delayed.deadline <= now) {
      const since = this.#delayed.deadline;
      const record = this.#delayed.pop();
      record.state = whenAdded(record.state);
      this.#count(record, since);
    }
  }

  #finish(assignment: Assignment<Item>): void {
    const { record } = assignment;
    this.#inFlight.remove(assignment);
    record.state = whenDone(record.state);
    if (record.state === "idle") this.#records.delete(record.key);
    else if (record.state === "queued") this.#enqueue(record);
    this.#metrics?.finished(this.#clock.monotonic() - assignment.startedAt);
    if (this.#isShutDown && this.#isIdle) this.#drains.settle();
  }

  /**
   * Serves who waits once the code that runs now has ended: of what it adds in one go, the first to
   * be handed out is then the one that comes first, and not the one that was added first.
   */
  #serveSoon(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    queueMicrotask(() => {
      this.#isServing = false;
      while (this.#getters.size > 0 && (this.#ready.size > 0 || this.#isShutDown))
        this.#getters.serve(this.take());
    });
  }

  #report(): DrainReport<Item> {
    const running = this.#inFlight.records();
    const dirty = running.filter(({ state }) => state === "processing+dirty");
    const now = this.#clock.monotonic();
    return {
      finished: this.#isIdle,
      running: running.map(({ key }) => key),
      queued: [...this.#ready.keys(), ...dirty.map(({ key }) => key)],
      delayed: this.#delayed.sorted().map((record) => ({
        key: record.key,
        item: record.item,
        after: Math.max(0, this.#delayed.deadlineOf(record) - now),
      })),
    };
  }
}

/** The key of an item that is its own; anything but a string is refused with the keys. */
function itself(item: unknown): string {
  return item as string;
}
