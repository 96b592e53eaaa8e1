import { TimerHeap } from "@holdfast/clock/internal";
import type { QueueItem } from "./queue-item.ts";

/** Counting starts just below the wrap-around, so that every queue and every test passes it. */
const FIRST_COUNT = 2 ** 31 - 8;

const MIN_PLACES = 16;
const MAX_IDLE_PLACES = 1_024;

/**
 * The queued keys, in the order in which they are taken.
 *
 * The rank of an item is the instant at which it was queued, less `aging` for each step of its priority.
 * The lowest rank goes first. So a step of priority is worth `aging` of waiting, ranks never change
 * while items wait, and no item starves. Without aging the rank is the priority alone.
 *
 * Of equal ranks the earlier arrival goes first. An item that is added while its key is in flight arrives
 * then, with any priority, and is pushed when the work is done.
 *
 * Nearly all items have priority 0. They are in a ring, in order of arrival, and their ranks are computed
 * only while the heap holds items: those of other priorities, and those that arrived before the last in
 * the ring. ADR 0023 compares this with a heap alone.
 */
export class ReadyItems<Item> {
  readonly #aging: number;
  /** Its length is a power of two. The place of an item that left for the heap is empty. */
  #ring: (QueueItem<Item> | undefined)[] = new Array(MIN_PLACES).fill(undefined);
  /** By place: the instant at which the item was queued. */
  #times = new Float64Array(MIN_PLACES);
  /** By place: the arrival of the item. It rises from head to tail. */
  #arrivals = new Float64Array(MIN_PLACES);
  /**
   * Both count all items that ever came, modulo 2^32; their lower bits are the place. The place of the
   * head is empty only if the ring is.
   */
  #head = FIRST_COUNT;
  #tail = FIRST_COUNT;
  #gaps = 0;
  readonly #heap = new TimerHeap<QueueItem<Item>>();
  #arrived = 0;
  /** Instant from which waiting times matter; before it, arrivals alone decide. */
  #timedSince = Number.POSITIVE_INFINITY;

  /** `aging` in milliseconds, above 0; `Infinity` is without. */
  constructor(aging: number) {
    this.#aging = aging;
  }

  get size(): number {
    return this.#length - this.#gaps + this.#heap.size;
  }

  /** From now on waiting times matter. Items that are queued already count as queued now. */
  startTimes(now: number): void {
    this.#timedSince = now;
    const early: [item: QueueItem<Item>, arrival: number][] = [];
    while (this.#heap.size > 0) {
      const arrival = this.#heap.order;
      early.push([this.#heap.pop(), arrival]);
    }
    for (const [item, arrival] of early) this.#heap.push(item, this.#rank(0, now), arrival);
  }

  /** The arrival of an item that is pushed later. */
  arrive(): number {
    return this.#arrived++;
  }

  push(item: QueueItem<Item>, since: number, arrival: number = this.arrive()): void {
    if (item.priority === 0 && this.#isLast(arrival)) this.#append(item, since, arrival);
    else this.#heap.push(item, this.#rank(item.priority, since), arrival);
  }

  /**
   * Raises the priority of a queued item. It goes behind the items that have that priority already,
   * unless it has waited for so long that its old place is better.
   */
  raise(item: QueueItem<Item>, priority: number, now: number): void {
    const place = item.heapSlot & (this.#ring.length - 1);
    const isInRing = this.#ring[place] === item;
    const rank = isInRing
      ? this.#rank(0, this.#times[place] as number)
      : this.#heap.deadlineOf(item);
    item.priority = priority;
    if (this.#rank(priority, now) >= rank) return;
    if (isInRing) this.#vacate(place);
    else this.#heap.remove(item);
    this.push(item, now);
  }

  /** Takes the next item out. */
  pop(): QueueItem<Item> | undefined {
    if (this.#heap.size === 0) return this.#length === 0 ? undefined : this.#shift();
    if (this.#length === 0) return this.#heap.pop();
    const { deadline, order } = this.#heap;
    return this.#isBefore(this.#head, deadline, order) ? this.#shift() : this.#heap.pop();
  }

  /** The keys in the order of {@link ReadyItems.pop}. */
  keys(): string[] {
    const heaped = this.#heap.sorted();
    const keys: string[] = [];
    let next = 0;
    for (let count = this.#head; count !== this.#tail; count = (count + 1) | 0) {
      const item = this.#ring[count & (this.#ring.length - 1)];
      if (item === undefined) continue;
      for (; next < heaped.length; next++) {
        const other = heaped[next] as QueueItem<Item>;
        if (this.#isBefore(count, this.#heap.deadlineOf(other), this.#heap.orderOf(other))) break;
        keys.push(other.key);
      }
      keys.push(item.key);
    }
    return [...keys, ...heaped.slice(next).map(({ key }) => key)];
  }

  /** Whether an item of the ring goes before one of the heap. */
  #isBefore(count: number, rank: number, arrival: number): boolean {
    const place = count & (this.#ring.length - 1);
    const own = this.#rank(0, this.#times[place] as number);
    return own === rank ? (this.#arrivals[place] as number) < arrival : own < rank;
  }

  get #length(): number {
    return (this.#tail - this.#head) | 0;
  }

  #rank(priority: number, since: number): number {
    if (this.#aging === Number.POSITIVE_INFINITY) return -priority;
    return Math.max(since, this.#timedSince) - priority * this.#aging;
  }

  /** Whether no item in the ring has arrived later. */
  #isLast(arrival: number): boolean {
    const last = (this.#tail - 1) & (this.#ring.length - 1);
    return this.#length === 0 || arrival > (this.#arrivals[last] as number);
  }

  #append(item: QueueItem<Item>, since: number, arrival: number): void {
    if (this.#length === this.#ring.length) this.#resize(this.#ring.length * 2);
    const place = this.#tail & (this.#ring.length - 1);
    this.#ring[place] = item;
    this.#times[place] = since;
    this.#arrivals[place] = arrival;
    item.heapSlot = this.#tail;
    this.#tail = (this.#tail + 1) | 0;
  }

  #shift(): QueueItem<Item> {
    const place = this.#head & (this.#ring.length - 1);
    const item = this.#ring[place] as QueueItem<Item>;
    this.#ring[place] = undefined;
    this.#head = (this.#head + 1) | 0;
    if (this.#gaps > 0) this.#skipGaps();
    if (this.#head === this.#tail && this.#ring.length > MAX_IDLE_PLACES) this.#resize(MIN_PLACES);
    return item;
  }

  #vacate(place: number): void {
    this.#ring[place] = undefined;
    this.#gaps++;
    this.#skipGaps();
    if (this.#gaps > this.#ring.length / 2) this.#closeGaps();
  }

  #skipGaps(): void {
    const mask = this.#ring.length - 1;
    while (this.#gaps > 0 && this.#ring[this.#head & mask] === undefined) {
      this.#gaps--;
      this.#head = (this.#head + 1) | 0;
    }
  }

  #closeGaps(): void {
    const mask = this.#ring.length - 1;
    let to = this.#head;
    for (let from = this.#head; from !== this.#tail; from = (from + 1) | 0) {
      const item = this.#ring[from & mask];
      if (item === undefined) continue;
      this.#ring[from & mask] = undefined;
      this.#ring[to & mask] = item;
      this.#times[to & mask] = this.#times[from & mask] as number;
      this.#arrivals[to & mask] = this.#arrivals[from & mask] as number;
      item.heapSlot = to;
      to = (to + 1) | 0;
    }
    this.#tail = to;
    this.#gaps = 0;
  }

  /** Makes the ring another power of two long. The counts stay, so each item knows its place. */
  #resize(length: number): void {
    const ring = this.#ring;
    const times = this.#times;
    const arrivals = this.#arrivals;
    this.#ring = new Array(length).fill(undefined);
    this.#times = new Float64Array(length);
    this.#arrivals = new Float64Array(length);
    for (let count = this.#head; count !== this.#tail; count = (count + 1) | 0) {
      this.#ring[count & (length - 1)] = ring[count & (ring.length - 1)];
      this.#times[count & (length - 1)] = times[count & (ring.length - 1)] as number;
      this.#arrivals[count & (length - 1)] = arrivals[count & (ring.length - 1)] as number;
    }
  }
}
