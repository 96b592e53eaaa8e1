import type { PassiveClock } from "@holdfast/clock";
import type { WorkInFlight } from "../metrics.ts";
import type { Assignment } from "./hand-out.ts";
import type { QueueItem } from "./queue-item.ts";

/** What is handed out and not done, in the order in which it was handed out. */
export class InFlight<Item> implements WorkInFlight {
  readonly #clock: PassiveClock;
  #size = 0;
  #first: Assignment<Item> | undefined = undefined;
  #last: Assignment<Item> | undefined = undefined;

  constructor(clock: PassiveClock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#size;
  }

  get unfinished(): number {
    const now = this.#clock.monotonic();
    let sum = 0;
    for (let link = this.#first; link !== undefined; link = link.next) sum += now - link.startedAt;
    return sum;
  }

  get longestRunning(): number {
    return this.#first === undefined ? 0 : this.#clock.monotonic() - this.#first.startedAt;
  }

  add(assignment: Assignment<Item>): void {
    this.#size++;
    assignment.previous = this.#last;
    if (this.#last === undefined) this.#first = assignment;
    else this.#last.next = assignment;
    this.#last = assignment;
  }

  remove(assignment: Assignment<Item>): void {
    const { previous, next } = assignment;
    this.#size--;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    assignment.previous = undefined;
    assignment.next = undefined;
  }

  /** What is worked on, the longest running first. */
  records(): QueueItem<Item>[] {
    const records: QueueItem<Item>[] = [];
    for (let link = this.#first; link !== undefined; link = link.next) records.push(link.record);
    return records;
  }
}
