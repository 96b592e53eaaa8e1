import { requireString } from "@holdfast/kit";
import { NO_SLOT, type QueueItem } from "./item-state.ts";
import { ReadyItems } from "./ready-items.ts";

/** Groups without items are forgotten when there are so many of them, and as many as those with items. */
const MIN_EMPTY = 1_024;

/** The queued keys of one group. */
interface Group<Item> {
  readonly name: string;
  readonly items: ReadyItems<Item>;
  /** The group whose turn follows. */
  next: Group<Item> | undefined;
  /** Whether it has items, and so takes turns. */
  isQueued: boolean;
  /** Whether another group of this name may be made. */
  isForgotten: boolean;
}

/** Record of a key in a queue whose groups take turns. */
interface FairItem<Item> extends QueueItem<Item> {
  group: Group<Item>;
}

/**
 * The queued keys of several groups, which take turns: each hands out its first key when it is its turn, and goes behind
 * the others. Within a group keys go by priority, waiting time and arrival, as in {@link ReadyItems}.
 */
export class FairItems<Item> {
  readonly #aging: number;
  readonly #fairBy: (key: string) => string;
  readonly #groups = new Map<string, Group<Item>>();
  /** The groups with items, the next one first. */
  #first: Group<Item> | undefined;
  #last: Group<Item> | undefined;
  #size = 0;
  #nonEmpty = 0;
  #arrived = 0;
  #timedSince: number | undefined;

  constructor(aging: number, fairBy: (key: string) => string) {
    this.#aging = aging;
    this.#fairBy = fairBy;
  }

  /**
   * A record for a key, in its group: another one, if there is one that is idle.
   *
   * @throws TypeError if the group is not a string, or what `fairBy` throws
   */
  itemOf(key: string, item: Item, idle: QueueItem<Item> | undefined): QueueItem<Item> {
    const group = this.#groupOf(this.#fairBy(key));
    if (idle === undefined) return fairItem(key, item, group);
    (idle as FairItem<Item>).group = group;
    return idle;
  }

  get size(): number {
    return this.#size;
  }

  startTimes(now: number): void {
    this.#timedSince = now;
    for (const { items } of this.#groups.values()) items.startTimes(now);
  }

  arrive(): number {
    return this.#arrived++;
  }

  push(item: QueueItem<Item>): void {
    const record = item as FairItem<Item>;
    if (record.group.isForgotten) record.group = this.#groupOf(record.group.name);
    const { group } = record;
    group.items.push(item);
    this.#size++;
    if (!group.isQueued) this.#queue(group);
  }

  raise(item: QueueItem<Item>, priority: number, now: number): void {
    (item as FairItem<Item>).group.items.raise(item, priority, now, this.arrive());
  }

  pop(): QueueItem<Item> | undefined {
    const group = this.#first;
    if (group === undefined) return undefined;
    this.#first = group.next;
    this.#nonEmpty--;
    this.#size--;
    const item = group.items.pop();
    group.isQueued = group.items.size > 0;
    if (group.isQueued) this.#queue(group);
    else this.#tidy();
    return item;
  }

  keys(): string[] {
    let turns: string[][] = [];
    for (let group = this.#first; group !== undefined; group = group.next)
      turns.push(group.items.keys());
    const keys: string[] = [];
    for (let round = 0; turns.length > 0; round++) {
      for (const turn of turns) keys.push(turn[round] as string);
      turns = turns.filter(({ length }) => length > round + 1);
    }
    return keys;
  }

  /** Puts a group with items behind the others. */
  #queue(group: Group<Item>): void {
    group.isQueued = true;
    group.next = undefined;
    if (this.#first === undefined) this.#first = group;
    else (this.#last as Group<Item>).next = group; // there is a first one
    this.#last = group;
    this.#nonEmpty++;
  }

  #groupOf(name: string): Group<Item> {
    return this.#groups.get(name) ?? this.#newGroup(name);
  }

  #newGroup(name: string): Group<Item> {
    requireString("the group that options.fairBy returns", name);
    const items = new ReadyItems<Item>(this.#aging);
    if (this.#timedSince !== undefined) items.startTimes(this.#timedSince);
    const group = { name, items, next: undefined, isQueued: false, isForgotten: false };
    this.#groups.set(name, group);
    return group;
  }

  /** Groups come and go: those without items are kept for a while, because a new one costs more than a key. */
  #tidy(): void {
    const empty = this.#groups.size - this.#nonEmpty;
    if (empty < MIN_EMPTY || empty < this.#nonEmpty) return;
    for (const group of this.#groups.values()) {
      if (group.items.size > 0) continue;
      group.isForgotten = true;
      this.#groups.delete(group.name);
    }
  }
}

/** Created by a literal, as other records are, with room for the group. */
function fairItem<Item>(key: string, item: Item, group: Group<Item>): FairItem<Item> {
  return {
    key,
    item,
    state: "idle",
    priority: 0,
    heapSlot: NO_SLOT,
    arrival: 0,
    since: undefined,
    group,
  };
}
