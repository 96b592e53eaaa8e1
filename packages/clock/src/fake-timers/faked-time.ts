import { type CallbackContext, roundToNanosecond } from "@holdfast/kit";
import type { Timer, TimerOptions } from "../clock.ts";
import { HostTimer, type TimerHost } from "../host/host-timer.ts";
import type { PendingTimer } from "../testing/test-clock.ts";
import type { FiredTimer, VirtualTime } from "../testing/virtual-time.ts";
import type { FakeTimersClock } from "./fake-timers-clock.ts";

/** A wake-up in the library for one of our timers. */
interface Booking {
  /** Undefined once called or cancelled. */
  wake: (() => void) | undefined;
  readonly handle: unknown;
}

/** A global timer in a report: the library exposes their number, but not their deadlines. */
const GLOBAL_TIMER: PendingTimer = { label: "global timer", deadline: Number.NaN, ref: true };

const FAKED_MICROTASKS: FiredTimer = { label: "faked microtasks" };

/** The time of a clock of @sinonjs/fake-timers, with our timers and those of the globals. */
export class FakedTime implements VirtualTime, TimerHost {
  /** About half of the library's maximum, because rounding up adds to it. */
  readonly longest: number = 2 ** 30;
  readonly booksForever = false;
  readonly measuresTimers = true;
  readonly needsPolling = true;
  onArm!: () => void;
  readonly #clock: FakeTimersClock;
  /** Our timers in the order in which they were armed. */
  readonly #known = new Set<FakedTimer>();
  /** The number of our timers that never fire; the library does not know these. */
  #endless = 0;
  /** The latest instant seen: between two milliseconds of the library after a step by a fraction. */
  #seen = 0;
  /** Set during one call of the library, to stop it at an instant. */
  #marker: unknown = undefined;
  #library: "idle" | "firing" = "idle";
  /** The wake-up that arrived inside the library's `next()`, to be called after it. */
  #due: Booking | undefined = undefined;
  #lastFired: PendingTimer = GLOBAL_TIMER;

  constructor(clock: FakeTimersClock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now;
  }

  setSystemTime(instant: number): void {
    this.#clock.setSystemTime(Math.floor(instant));
  }

  arm(delay: number, fire: () => void, options: TimerOptions, context?: CallbackContext): Timer {
    const callback = context === undefined ? fire : () => context.runInAsyncScope(fire);
    const timer = new FakedTimer(this, callback, options);
    timer.reset(delay);
    return timer;
  }

  /**
   * The library's time goes back by up to 2 ms when the wall clock is set after a tick by a fraction. If
   * it goes back further, the library was reset: time restarts, and it holds none of our timers.
   */
  monotonic(): number {
    const elapsed = this.#elapsed();
    const isReset = elapsed < this.#seen - 2;
    this.#seen = isReset ? elapsed : Math.max(elapsed, this.#seen);
    if (isReset) this.stopAll();
    return this.#seen;
  }

  get size(): number {
    return this.#clock.countTimers() + this.#endless - (this.#marker === undefined ? 0 : 1);
  }

  after(duration: number): number {
    return roundToNanosecond(this.monotonic() + duration);
  }

  pending(): PendingTimer[] {
    const known = [...this.#known].map(({ label, deadline, ref }) => ({ label, deadline, ref }));
    // Infinity minus Infinity is NaN, which sorting treats as 0.
    known.sort((a, b) => a.deadline - b.deadline);
    const others = Math.max(0, this.size - known.length);
    return [...known, ...Array.from({ length: others }, () => GLOBAL_TIMER)];
  }

  stopAll(): void {
    for (const timer of this.#known) timer.stop();
  }

  add(timer: FakedTimer): void {
    this.#known.add(timer);
    if (timer.deadline === Number.POSITIVE_INFINITY) this.#endless++;
    this.onArm();
  }

  remove(timer: FakedTimer): void {
    this.#known.delete(timer);
    if (timer.deadline === Number.POSITIVE_INFINITY) this.#endless--;
  }

  noteFired(timer: FakedTimer): void {
    this.remove(timer);
    this.#lastFired = timer;
  }

  set(wake: () => void, delay: number): Booking {
    const wait = roundToNanosecond(this.monotonic() + delay - this.#elapsed());
    const handle = this.#clock.setTimeout(() => this.#wake(booking), Math.ceil(wait));
    const booking: Booking = { wake, handle };
    return booking;
  }

  clear(booking: Booking): void {
    booking.wake = undefined;
    this.#clock.clearTimeout(booking.handle);
  }

  /** The library does not expose deadlines, so only an attempt to fire shows whether a timer is due. */
  next(): "none" | "later" {
    return this.#clock.countTimers() > 0 ? "later" : "none";
  }

  fireNext(end: number): FiredTimer | undefined {
    if (this.#runMicrotasks()) return FAKED_MICROTASKS;
    this.#lastFired = GLOBAL_TIMER;
    return this.#nextBy(end) ? this.#lastFired : undefined;
  }

  moveTo(instant: number): void {
    const left = Math.floor(instant - this.#elapsed());
    if (left > 0) this.#clock.tick(left);
    this.#seen = instant;
  }

  #elapsed(): number {
    const [seconds = 0, nanoseconds = 0] = this.#clock.hrtime();
    return seconds * 1e3 + nanoseconds / 1e6;
  }

  /**
   * Faked microtasks, and everything they cause, must run before time moves, like real ones. `jobs` is
   * internal to the library; without it, a changed number of timers shows most of them.
   */
  #runMicrotasks(): boolean {
    const queued = this.#clock.jobs?.length ?? 0;
    const before = this.#clock.countTimers();
    this.#clock.runMicrotasks();
    return queued > 0 || this.#clock.countTimers() !== before;
  }

  /** Fires the earliest timer due by `end`; if there is none, time has moved to `end`. */
  #nextBy(end: number): boolean {
    // Every armed timer is due by then, and firing without a marker is a third faster.
    if (end === Number.POSITIVE_INFINITY) {
      this.#next();
      return true;
    }
    for (;;) {
      const left = Math.floor(end - this.#elapsed());
      if (this.#nextWithin(Math.min(left, this.longest))) return true;
      if (left <= this.longest) return false;
    }
  }

  /** A marker that fires before any other timer shows that none was due. */
  #nextWithin(duration: number): boolean {
    let reached = false;
    const reach = (): void => {
      reached = true;
    };
    this.#marker = this.#clock.setTimeout(reach, duration);
    this.#next();
    return !reached;
  }

  /** Inside the library's `next()` a delay of 0 counts as 1; therefore our callbacks run after it. */
  #next(): void {
    this.#library = "firing";
    try {
      this.#clock.next();
    } finally {
      this.#library = "idle";
      this.#clock.clearTimeout(this.#marker);
      this.#marker = undefined;
      this.#wakeDue();
    }
  }

  #wake(booking: Booking): void {
    if (this.#library === "firing" && this.#due === undefined) {
      this.#due = booking;
      return;
    }
    // The test moved the library's time itself, from outside or from inside a callback.
    this.#wakeDue();
    booking.wake?.();
  }

  #wakeDue(): void {
    const booking = this.#due;
    this.#due = undefined;
    booking?.wake?.();
  }
}

/** A timer with a label and an exact deadline, which those of the library do not have. */
class FakedTimer extends HostTimer implements PendingTimer {
  readonly label: string | undefined;
  readonly ref: boolean;
  readonly #time: FakedTime;

  constructor(time: FakedTime, fire: () => void, options: TimerOptions) {
    const ref = options.ref ?? true;
    super(time, fire, ref);
    this.label = options.label;
    this.ref = ref;
    this.#time = time;
  }

  protected override arm(delay: number): void {
    super.arm(delay);
    this.#time.add(this);
  }

  protected override disarm(): void {
    this.#time.remove(this);
    super.disarm();
  }

  protected override expire(): void {
    this.#time.noteFired(this);
    super.expire();
  }
}
