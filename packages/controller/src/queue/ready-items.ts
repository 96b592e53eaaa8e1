import { TimerHeap } from "@holdfast/kit";
import { NO_SLOT, type QueueItem } from "./item-state.ts";

/** The line is rebuilt when so many of its entries are used up or void, and no fewer than the others. */
const MIN_USED = 1_024;

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
 * Nearly all items have priority 0. They wait in a line, in order of arrival. The heap holds the others: those
 * of other priorities, and those that arrived before the last in the line (ADR 0045).
 */
export class ReadyItems<Item> {
  readonly #aging: number;
  /** Its entries before `#head` are used up. The entry at the head is valid, or the line is empty. */
  #line: (QueueItem<Item> | undefined)[] = [];
  /** The arrival of each entry of the line. An item that was raised has another since: its entry is void. */
  #arrivals: number[] = [];
  #last = -1;
  #head = 0;
  #voids = 0;
  readonly #heap = new TimerHeap<QueueItem<Item>>();
  #arrived = 0;
  /** Instant from which waiting times matter; before it, arrivals alone decide. */
  #timedSince = Number.POSITIVE_INFINITY;

  /** `aging` in milliseconds, above 0; `Infinity` is without. */
  constructor(aging: number) {
    this.#aging = aging;
  }

  get size(): number {
    return this.#line.length - this.#head - this.#voids + this.#heap.size;
  }

  /** From now on waiting times matter. Items that are queued already count as queued now. */
  startTimes(now: number): void {
    this.#timedSince = now;
    const early = this.#heap.sorted();
    for (const item of early) {
      this.#heap.remove(item);
      this.#heap.push(item, this.#rank(0, now), item.arrival);
    }
  }

  /** The next arrival: of an item that is pushed now, or when its work is done. */
  arrive(): number {
    return this.#arrived++;
  }

  /** Adds an item that has its arrival, its priority and the instant since which it waits. */
  push(item: QueueItem<Item>): void {
    const { priority, arrival } = item;
    if (priority !== 0 || arrival < this.#last) {
      this.#heap.push(item, this.#rank(priority, item.since as number), arrival);
      return;
    }
    item.heapSlot = NO_SLOT;
    this.#line.push(item);
    this.#arrivals.push(arrival);
    this.#last = arrival;
  }

  /**
   * Raises the priority of a queued item. It goes behind the items that have that priority already,
   * unless it has waited for so long that its old place is better.
   *
   * @param arrival - later than that of all items so far
   */
  raise(
    item: QueueItem<Item>,
    priority: number,
    now: number,
    arrival: number = this.arrive(),
  ): void {
    const isInLine = item.heapSlot === NO_SLOT;
    const rank = isInLine ? this.#rank(0, item.since as number) : this.#heap.deadlineOf(item);
    const raised = this.#rank(priority, now);
    item.priority = priority;
    if (raised >= rank) return;
    if (!isInLine) this.#heap.remove(item);
    item.arrival = arrival;
    this.#heap.push(item, raised, item.arrival);
    if (!isInLine) return;
    this.#voids++;
    this.#tidy();
  }

  /** Takes the next item out. */
  pop(): QueueItem<Item> | undefined {
    const first = this.#line[this.#head];
    if (this.#heap.size > 0 && (first === undefined || this.#isHeapBefore(first)))
      return this.#heap.pop();
    if (first === undefined) return undefined;
    this.#line[this.#head++] = undefined;
    this.#tidy();
    return first;
  }

  /** The keys in the order of {@link ReadyItems.pop}. */
  keys(): string[] {
    const ranked = [
      ...this.#valid().map((item) => ({ item, rank: this.#rank(0, item.since as number) })),
      ...this.#heap.sorted().map((item) => ({ item, rank: this.#heap.deadlineOf(item) })),
    ];
    ranked.sort((a, b) => a.rank - b.rank || a.item.arrival - b.item.arrival);
    return ranked.map(({ item }) => item.key);
  }

  /** Whether the first item of the heap goes before the first of the line. */
  #isHeapBefore({ since, arrival }: QueueItem<Item>): boolean {
    const rank = this.#rank(0, since as number);
    const { deadline, order } = this.#heap;
    return deadline === rank ? order < arrival : deadline < rank;
  }

  #rank(priority: number, since: number): number {
    if (this.#aging === Number.POSITIVE_INFINITY) return -priority;
    return Math.max(since, this.#timedSince) - priority * this.#aging;
  }

  #valid(): QueueItem<Item>[] {
    return this.#line.filter((_, place) => this.#isValid(place)) as QueueItem<Item>[];
  }

  #isValid(place: number): boolean {
    return this.#line[place]?.arrival === this.#arrivals[place];
  }

  /** Moves the head to a valid entry, and drops the used ones when they are most of the line. */
  #tidy(): void {
    while (this.#voids > 0 && !this.#isValid(this.#head)) {
      this.#head++;
      this.#voids--;
    }
    const used = this.#head + this.#voids;
    if (used < MIN_USED || used * 2 < this.#line.length) return;
    if (this.#voids === 0) {
      this.#line = this.#line.slice(this.#head);
      this.#arrivals = this.#arrivals.slice(this.#head);
    } else {
      const valid = this.#valid();
      this.#line = valid;
      this.#arrivals = valid.map(({ arrival }) => arrival);
    }
    this.#head = 0;
    this.#voids = 0;
  }
}
