/**
 * What {@link fromFakeTimers} needs of a clock of @sinonjs/fake-timers: part of its public
 * interface, the same from version 15.0 on, but for `jobs`. Nothing is imported from there.
 */
export interface FakeTimersClock {
  /** The wall clock: whole milliseconds since the epoch. */
  readonly now: number;
  /** Arms a timer after whole milliseconds. */
  setTimeout(fire: () => void, delay: number): unknown;
  /** Calls off what {@link FakeTimersClock.setTimeout} armed. */
  clearTimeout(handle: unknown): void;
  /** How many timers are armed, and how many callbacks faked microtask queues hold. */
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
  /** Seconds and nanoseconds since the clock was made, whatever happened to the wall clock. */
  hrtime(): number[];
}
