import type { Clock } from "@holdfast/clock";
import { roundToNanosecond } from "@holdfast/clock/internal";
import { DelayedItems } from "./delayed-items.ts";
import type { DelayedKey } from "./drain-report.ts";
import { Assignment, type WorkItem } from "./hand-out.ts";
import { InFlight } from "./in-flight.ts";
import { isDelayed, whenAdded, whenCancelled, whenDone, whenPostponed } from "./item-state.ts";
import { type QueueItem, queueItem } from "./queue-item.ts";
import type { QueueMetrics } from "./queue-metrics.ts";
import { ReadyItems } from "./ready-items.ts";

/** What a {@link Backlog} is made of. */
export interface BacklogOptions<Item> {
  readonly name: string;
  readonly clock: Clock;
  readonly aging: number;
  /** Undefined if nobody listens, so that the clock is not read for nobody. */
  readonly metrics: QueueMetrics | undefined;
  /** Keys have become due. */
  readonly onDue: () => void;
  /** A hand-out is done, and calls {@link Backlog.finish}. */
  readonly onDone: (assignment: Assignment<Item>) => void;
}

const MOST_SPARE = 1_024;

/** Every key of a queue and where it is. What nobody waits for: the promises are the queue's. */
export class Backlog<Item> {
  /** Of all keys that are not idle, and of the one that became so last. */
  readonly #records = new Map<string, QueueItem<Item>>();
  readonly #ready: ReadyItems<Item>;
  readonly #delayed: DelayedItems<QueueItem<Item>>;
  readonly #work: InFlight;
  readonly #clock: Clock;
  readonly #metrics: QueueMetrics | undefined;
  readonly #onDone: (assignment: Assignment<Item>) => void;
  /** Whether the clock is read when an item begins to wait. That costs half as much as a hand-out. */
  #isTimed: boolean;
  #isRanked = false;
  /** What began to wait before, without a priority in sight, is taken to have begun then. */
  #rankedSince = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  #inFlight = 0;
  /** Its record is kept until the next one, for those that are added again as soon as they are done. */
  #lastIdle: QueueItem<Item> | undefined = undefined;
  /**
   * Records without a key, to be used again. A map that is added to and deleted from makes new tables
   * all the time, and V8 links each to the next: one that has grown old keeps all after it, and the
   * records in them, from being collected young. New records would make an item twice as dear.
   */
  readonly #spare: QueueItem<Item>[] = [];

  constructor({ name, clock, aging, metrics, onDue, onDone }: BacklogOptions<Item>) {
    this.#clock = clock;
    this.#metrics = metrics;
    this.#onDone = onDone;
    this.#isTimed = metrics !== undefined;
    this.#ready = new ReadyItems(aging);
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

  get delayed(): number {
    return this.#delayed.size;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** To be handed out as soon as possible. */
  add(key: string, item: Item, priority: number): void {
    if (this.#isClosed) return;
    if (priority !== 0) this.#rank();
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

  /** To be handed out in `delay` milliseconds, more than 0. */
  postpone(key: string, item: Item, delay: number, priority: number): void {
    if (priority !== 0) this.#rank();
    // Rounded, so that the order among equals does not depend on the last digits of a sum.
    const deadline = roundToNanosecond(this.#clock.monotonic() + delay);
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

  /** What is handed out of the key next; undefined if nothing is. */
  nextOf(key: string): Item | undefined {
    return this.#records.get(key)?.item;
  }

  /** Whether the key waited for its time, which it now does not any more. */
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
    const assignment = new Assignment(record, record.item as Item, now, this.#onDone);
    record.state = "processing";
    record.item = undefined;
    this.#inFlight++;
    if (this.#metrics !== undefined) {
      this.#work.add(assignment);
      this.#metrics.depth(-1, record.priority);
      this.#metrics.started(now - (record.since as number));
    }
    return assignment;
  }

  finish(assignment: Assignment<Item>): void {
    const { record } = assignment;
    this.#inFlight--;
    record.state = whenDone(record.state);
    if (record.state === "idle") this.#retire(record);
    else if (record.state === "queued")
      this.#ready.push(record, Math.max(record.since as number, this.#rankedSince));
    if (this.#metrics !== undefined) {
      this.#work.delete(assignment);
      this.#metrics.finished(this.#clock.monotonic() - assignment.startedAt);
    }
  }

  /** Nothing is added or becomes due any more. */
  close(): void {
    this.#isClosed = true;
    this.#delayed.stop();
  }

  keysInFlight(): string[] {
    const records = [...this.#records.values()];
    return records.filter(({ state }) => state.startsWith("processing")).map(({ key }) => key);
  }

  /** The keys that are to be handed out, now or again. */
  keysToHandOut(): string[] {
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

  /** At the first use of a priority: from now on it matters since when an item waits. */
  #rank(): void {
    if (this.#isRanked) return;
    this.#isRanked = true;
    this.#isTimed = true;
    this.#rankedSince = this.#clock.monotonic();
    this.#ready.startTimes(this.#rankedSince);
  }

  #now(): number {
    return this.#isTimed ? this.#clock.monotonic() : 0;
  }

  #recordOf(key: string, item: Item): QueueItem<Item> {
    const known = this.#records.get(key);
    if (known !== undefined) {
      known.item = item;
      return known;
    }
    const record = this.#spare.pop() ?? queueItem<Item>();
    record.key = key;
    record.item = item;
    this.#records.set(key, record);
    return record;
  }

  /** A key is to be handed out that was not, though perhaps only when it is done. */
  #count(record: QueueItem<Item>, since: number): void {
    record.since = since;
    if (record.state === "queued") this.#ready.push(record, since);
    if (this.#metrics !== undefined) {
      this.#metrics.added();
      this.#metrics.depth(1, record.priority);
    }
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
    if (last === record || last?.state !== "idle") return;
    this.#records.delete(last.key);
    last.key = "";
    if (this.#spare.length < MOST_SPARE) this.#spare.push(last);
  }
}
