import type { Timer, TimerOptions } from "../clock.ts";
import type { CallbackContext } from "../host/platform.ts";
import { instantAfter } from "../internal/rounding.ts";
import { type HeapEntry, TimerHeap } from "../internal/timer-heap.ts";
import { FakeTimer } from "./fake-timer.ts";
import type { PendingTimer } from "./test-clock.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** A timer as a {@link Timeline} sees it. */
export interface TimelineEntry extends HeapEntry, PendingTimer {
  stop(): boolean;
  /** Called at the entry's own instant, once it is no longer armed. */
  fire(): void;
}

/** Orders the timers of one instant: returns a number for each timer; smaller numbers fire first. */
export type TieOrder = (sequence: number) => number;

/** The time of a `FakeClock` and the timers armed on it, in a heap. */
export class Timeline implements VirtualTime {
  readonly needsPolling = false;
  onArm!: () => void;
  readonly #heap = new TimerHeap<TimelineEntry>();
  readonly #tieOrder: TieOrder;
  /** Starts as a number: a field that starts as `undefined` allocates at every store. */
  #now = 0;
  /** `now()` minus `monotonic()`. */
  #wallOffset = 0;
  #sequence = 0;

  constructor(start: number, wallStart: number, tieOrder: TieOrder) {
    this.#now = start;
    this.#wallOffset = wallStart - start;
    this.#tieOrder = tieOrder;
  }

  now(): number {
    return this.#wallOffset + this.#now;
  }

  setSystemTime(instant: number): void {
    this.#wallOffset = instant - this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  get size(): number {
    return this.#heap.size;
  }

  after(duration: number): number {
    return instantAfter(this.#now, duration);
  }

  arm(delay: number, fire: () => void, options: TimerOptions, context?: CallbackContext): Timer {
    return new FakeTimer(this, delay, fire, options, context);
  }

  add(entry: TimelineEntry, deadline: number): void {
    this.#heap.push(entry, deadline, this.#tieOrder(this.#sequence++));
    this.onArm();
  }

  remove(entry: TimelineEntry): void {
    this.#heap.remove(entry);
  }

  next(end: number): "none" | "now" | "later" {
    const { deadline } = this.#heap;
    if (deadline > end || deadline === Number.POSITIVE_INFINITY) return "none";
    return deadline > this.#now ? "later" : "now";
  }

  fireNext(): TimelineEntry {
    // Time does not go back: no deadline lies before the instant at which it was set.
    this.#now = this.#heap.deadline;
    const entry = this.#heap.pop();
    entry.fire();
    return entry;
  }

  moveTo(instant: number): void {
    this.#now = instant;
  }

  pending(): PendingTimer[] {
    return this.#heap.sorted().map(({ label, deadline, ref }) => ({ label, deadline, ref }));
  }

  stopAll(): void {
    for (const entry of this.#heap.sorted()) entry.stop();
  }
}
