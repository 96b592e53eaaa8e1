import type { Clock } from "../clock.ts";

/** Options for {@link TestClock.step} and {@link TestClock.setTime}. */
export interface ClockStepOptions {
  /**
   * Turns of the real event loop granted before time moves, after promises and `nextTick` have
   * settled. A whole number, at least 0.
   *
   * With 1, queued immediates and messages have run, too. With 0 they have not: several times faster,
   * for simulations that use nothing but promises and this clock.
   *
   * @defaultValue `1`
   */
  readonly turns?: number | undefined;

  /**
   * Real milliseconds without progress, while no timer can fire or time is held, before the call
   * rejects with a `DeadlockError`. Doubled once if the process itself was blocked meanwhile. At least
   * 0; `Infinity` waits forever.
   *
   * Progress is a timer that is armed or fires, and the start or end of a {@link TestClock.hold} or
   * {@link TestClock.external}. While an `external()` is pending, `externalMs` applies instead.
   *
   * @defaultValue the `stallMs` of `new FakeClock`, by default `1000`
   */
  readonly stallMs?: number | undefined;

  /**
   * As `stallMs`, while an {@link TestClock.external} is pending: progress inside it is invisible. At
   * least 0; `Infinity` waits forever.
   *
   * @defaultValue the `externalMs` of `new FakeClock`, by default `30_000`
   */
  readonly externalMs?: number | undefined;
}

/** Options for {@link TestClock.run}. */
export interface ClockRunOptions extends ClockStepOptions {
  /**
   * Maximum number of timers that may fire before the run rejects with a `LivelockError`. A whole number
   * or `Infinity`.
   *
   * @defaultValue `1_000_000`
   */
  readonly maxTimers?: number | undefined;

  /**
   * Signal that ends the run: it rejects at once with `signal.reason`.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
}

/** Options for {@link TestClock.waitForWaiters}. */
export interface WaitForWaitersOptions {
  /**
   * Signal that ends the wait: it rejects at once with `signal.reason`.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
}

/** An armed timer, as {@link TestClock.pending} shows it. */
export interface PendingTimer {
  /** Label from its options. */
  readonly label: string | undefined;
  /** The monotonic instant at which it is due. */
  readonly deadline: number;
  /** Whether it would keep the process alive on the real clock. */
  readonly ref: boolean;
}

/**
 * A clock whose time moves only when the test moves it.
 *
 * | Verb | moves time | lets promises run |
 * | --- | --- | --- |
 * | {@link TestClock.run} | whenever nothing else can run | yes |
 * | {@link TestClock.step} | by its argument | yes, before and after every timer |
 * | {@link TestClock.stepSync} | by its argument | no |
 * | {@link TestClock.setSystemTime} | no: only the wall clock jumps | no |
 *
 * Timers fire in the order of their deadlines, then of their creation, each at its own instant.
 * Only one of these methods can move a clock at a time.
 */
export interface TestClock extends Clock, Disposable {
  /**
   * Runs `fn` to its end, and moves time to the next deadline whenever nothing else can run.
   *
   * Inside `fn`, wait with `clock.sleep`, not with `step`. Wrap real I/O in {@link TestClock.external}:
   * Node does not report that it is pending.
   *
   * | Event | Result |
   * | --- | --- |
   * | `fn` returns or resolves | resolves with that value; time stops |
   * | `fn` throws or rejects | rejects with that error |
   * | a timer callback throws | rejects with that error; later timers stay armed |
   * | `fn` is pending and nothing can fire for `stallMs` | rejects with a `DeadlockError` |
   * | more than `maxTimers` timers fire, or 100,000 at one instant and then one armed since | rejects with a `LivelockError` |
   * | `signal` aborts | rejects with `signal.reason` |
   *
   * @param fn - the function to run; it receives this clock
   * @param options - see {@link ClockRunOptions}
   * @returns the value of `fn`; bad arguments reject with a RangeError or TypeError
   */
  run<Value>(
    fn: (clock: this) => Value | PromiseLike<Value>,
    options?: ClockRunOptions,
  ): Promise<Value>;

  /**
   * Moves time by `duration` and fires every timer due by then, end included. Promises settle before,
   * between and after the timers. `step(0)` fires timers that are already due.
   *
   * Source: `Step` of the fake clock in k8s.io/utils/clock/testing, which fires in order of creation
   * and does not wait for other goroutines.
   *
   * @param duration - milliseconds, at least 0, finite
   * @param options - see {@link ClockStepOptions}
   * @returns a promise that resolves when the end is reached; a throwing callback rejects it
   */
  step(duration: number, options?: ClockStepOptions): Promise<void>;

  /**
   * {@link TestClock.step} without promises: their continuations run only after it returns. For code
   * that uses callbacks only, such as rxjs.
   *
   * @param duration - milliseconds, at least 0, finite
   * @throws RangeError if `duration` is out of range; Error while another method moves the clock; the
   * error of a throwing callback, at its instant
   */
  stepSync(duration: number): void;

  /**
   * Moves time to an instant of the wall clock, like {@link TestClock.step}.
   *
   * @param instant - milliseconds since the epoch, not before `now()`
   * @param options - see {@link ClockStepOptions}
   * @returns a promise; a RangeError rejects it if the instant is in the past
   */
  setTime(instant: number, options?: ClockStepOptions): Promise<void>;

  /**
   * Sets the wall clock alone, as NTP or a user would: `monotonic()` and timers do not change.
   *
   * @param instant - milliseconds since the epoch, finite
   */
  setSystemTime(instant: number): void;

  /** The number of armed timers, sleeps, tickers and timeouts. */
  waiters(): number;

  /** Whether any timer is armed. */
  hasWaiters(): boolean;

  /**
   * Resolves as soon as at least `count` waiters are armed. Use it for code that runs in the
   * background.
   *
   * @param count - a whole number, at least 0
   * @param options - see {@link WaitForWaitersOptions}
   * @returns a promise; an abort rejects it with `signal.reason`
   */
  waitForWaiters(count: number, options?: WaitForWaitersOptions): Promise<void>;

  /** The armed timers in firing order. */
  pending(): PendingTimer[];

  /**
   * Stops `run` and `step` from moving time until disposed: they wait for the real event loop.
   *
   * @param label - its name in a `DeadlockError`
   * @returns an object that releases time when disposed; a second disposal does nothing
   */
  hold(label?: string): Disposable;

  /**
   * Holds time until a promise settles: for real I/O inside {@link TestClock.run}.
   *
   * The promise must not wait for this clock: both would wait forever, and `run` would reject with a
   * `DeadlockError` after `externalMs`.
   *
   * @param work - the promise
   * @param label - its name in a `DeadlockError`
   * @returns a promise that settles like `work`
   */
  external<Value>(work: PromiseLike<Value>, label?: string): Promise<Value>;

  /** Stops every timer. */
  [Symbol.dispose](): void;
}
