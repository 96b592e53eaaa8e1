/**
 * The part of a clock of @sinonjs/fake-timers that {@link fromFakeTimers} uses: its public interface
 * since version 15.0, plus `jobs`. Nothing is imported from the library.
 */
export interface FakeTimersClock {
  /** The wall clock: whole milliseconds since the epoch. */
  readonly now: number;
  /** Arms a timer after whole milliseconds. */
  setTimeout(fire: () => void, delay: number): unknown;
  /** Cancels a timer of {@link FakeTimersClock.setTimeout}. */
  clearTimeout(handle: unknown): void;
  /** The number of armed timers plus the callbacks in faked microtask queues. */
  countTimers(): number;
  /** The callbacks in faked microtask queues: internal, and missing until there are any. */
  readonly jobs?: ArrayLike<unknown> | undefined;
  /** Empties the queues of faked `nextTick` and `queueMicrotask`. */
  runMicrotasks(): void;
  /** Moves time to the earliest timer and fires it. */
  next(): number;
  /** Moves time by whole milliseconds. */
  tick(duration: number): number;
  /** Sets the wall clock alone. */
  setSystemTime(instant: number): void;
  /** Seconds and nanoseconds since the clock was created; jumps of the wall clock do not count. */
  hrtime(): number[];
}
