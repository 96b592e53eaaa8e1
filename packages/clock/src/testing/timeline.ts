import { type CallbackContext, type HeapEntry, instantAfter, TimerHeap } from "@holdfast/kit";
import { BaseTimer } from "../base-timer.ts";
import type { Timer, TimerOptions } from "../clock.ts";
import type { PendingTimer } from "./test-clock.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** Orders the timers of one instant: returns a number for each timer; smaller numbers fire first. */
export type TieOrder = (sequence: number) => number;

/** The time of a `FakeClock` and the timers armed on it, in a heap. */
export class Timeline implements VirtualTime {
  readonly needsPolling = false;
  onArm!: () => void;
  readonly #heap = new TimerHeap<FakeTimer>();
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
    const timer = new FakeTimer(this, fire, options, context);
    timer.reset(delay);
    return timer;
  }

  add(timer: FakeTimer, deadline: number): void {
    this.#heap.push(timer, deadline, this.#tieOrder(this.#sequence++));
    this.onArm();
  }

  remove(timer: FakeTimer): void {
    this.#heap.remove(timer);
  }

  next(end: number): "none" | "now" | "later" {
    const { deadline } = this.#heap;
    if (deadline > end || deadline === Number.POSITIVE_INFINITY) return "none";
    return deadline > this.#now ? "later" : "now";
  }

  fireNext(): FakeTimer {
    // Time does not go back: no deadline lies before the instant at which it was set.
    this.#now = this.#heap.deadline;
    const timer = this.#heap.pop();
    timer.fire();
    return timer;
  }

  moveTo(instant: number): void {
    this.#now = instant;
  }

  pending(): PendingTimer[] {
    return this.#heap.sorted().map(({ label, deadline, ref }) => ({ label, deadline, ref }));
  }

  stopAll(): void {
    for (const timer of this.#heap.sorted()) timer.stop();
  }
}

/** A timer on a timeline. It is its own entry there, which saves one object per sleep. */
class FakeTimer extends BaseTimer implements HeapEntry, PendingTimer {
  heapSlot = -1;
  readonly label: string | undefined;
  readonly ref: boolean;
  readonly #timeline: Timeline;
  readonly #callback: () => void;
  /** The async context of the callback; undefined for callbacks that need none. */
  readonly #context: CallbackContext | undefined;
  #deadline = 0;

  constructor(
    timeline: Timeline,
    callback: () => void,
    options: TimerOptions,
    context?: CallbackContext,
  ) {
    super();
    this.#timeline = timeline;
    this.#callback = callback;
    this.#context = context;
    this.label = options.label;
    this.ref = options.ref ?? true;
  }

  override get deadline(): number {
    return this.#deadline;
  }

  fire(): void {
    this.expire();
    if (this.#context === undefined) this.#callback();
    else this.#context.runInAsyncScope(this.#callback);
  }

  protected override arm(delay: number): void {
    this.#deadline = this.#timeline.after(delay);
    this.#timeline.add(this, this.#deadline);
  }

  protected override disarm(): void {
    this.#timeline.remove(this);
  }
}
