import type { Clock } from "../clock.ts";

/** How a {@link TestClock} lets other work run while it drives time. */
export interface DriveOptions {
  /**
   * Turns of the real event loop granted before time moves, after everything that promises and
   * `nextTick` can do is done. A whole number, at least 0.
   *
   * With 1, immediates and messages already queued have run, too. With 0 (burst) they have not; it
   * is several times faster and right for closed simulations.
   *
   * @defaultValue `1`
   */
  readonly turns?: number | undefined;

  /**
   * Real milliseconds to wait, with nothing to fire or with time held, before the drive is given up
   * as stuck; as many again if the process stood still itself meanwhile. At least 0; `Infinity` waits
   * for ever.
   *
   * @defaultValue `1000`
   */
  readonly stallMs?: number | undefined;
}

/** How {@link TestClock.run} drives time. */
export interface RunOptions extends DriveOptions {
  /**
   * How many timers may fire before the run is given up as endless. A whole number or `Infinity`.
   *
   * @defaultValue `1_000_000`
   */
  readonly maxTimers?: number | undefined;

  /**
   * Ends the run: it rejects at once with `signal.reason`.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
}

/** What {@link TestClock.waitForWaiters} can be told. */
export interface WaitForWaitersOptions {
  /**
   * Ends the wait: it rejects at once with `signal.reason`.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
}

/** An armed timer, as {@link TestClock.pending} shows it. */
export interface PendingTimer {
  /** The name it was given. */
  readonly label: string | undefined;
  /** The monotonic instant at which it is due. */
  readonly deadline: number;
  /** Whether it would keep the process alive on the real clock. */
  readonly ref: boolean;
}

/**
 * A clock whose time moves only when the test says so.
 *
 * | Verb | moves time | lets promises run |
 * | --- | --- | --- |
 * | {@link TestClock.run} | whenever nothing else can run | yes |
 * | {@link TestClock.step} | by so much | yes, before and after every timer |
 * | {@link TestClock.stepSync} | by so much | no |
 * | {@link TestClock.setSystemTime} | no: only the wall clock jumps | no |
 *
 * Timers fire in the order of their deadlines, then of their creation, each at its own instant.
 * Only one verb can drive a clock at a time.
 */
export interface TestClock extends Clock, Disposable {
  /**
   * Runs `fn` to its end, and moves time to the next deadline whenever nothing else can run.
   *
   * Inside, let time pass with `clock.sleep`, not with `step`. Real I/O must be wrapped in
   * {@link TestClock.external}: nothing in Node tells that it is pending.
   *
   * | What happens | What `run` does |
   * | --- | --- |
   * | `fn` returns or resolves | resolves with that value; time stops there |
   * | `fn` throws or rejects | rejects with that error |
   * | a timer callback throws | rejects with that error; later timers stay armed |
   * | `fn` is pending and nothing can fire for `stallMs` | rejects with a `DeadlockError` |
   * | more than `maxTimers`, or 100 000 at one instant and then one armed since | rejects with a `LivelockError` |
   * | `signal` aborts | rejects with `signal.reason` |
   *
   * @param fn - what to run; it gets this clock
   * @param options - see {@link RunOptions}
   * @returns what `fn` returns; bad arguments reject with a RangeError or TypeError
   */
  run<Value>(fn: (clock: this) => Value | PromiseLike<Value>, options?: RunOptions): Promise<Value>;

  /**
   * Moves time by `duration`, firing every timer due until then, the end included. Everything that
   * promises can do is done before, between and after. `step(0)` fires what is due already.
   *
   * Source: `Step` of the fake clock in k8s.io/utils/clock/testing, which fires in another order
   * and knows no promises.
   *
   * @param duration - milliseconds, at least 0, finite
   * @param options - see {@link DriveOptions}
   * @returns a promise that resolves when the end is reached; a throwing callback rejects it
   */
  step(duration: number, options?: DriveOptions): Promise<void>;

  /**
   * {@link TestClock.step} without promises: their continuations have not run when it returns. For
   * code that works by callbacks alone, rxjs for one.
   *
   * @param duration - milliseconds, at least 0, finite
   * @throws what a callback throws, at its instant; Error while something else drives the clock
   */
  stepSync(duration: number): void;

  /**
   * Moves time to an instant of the wall clock, as {@link TestClock.step} does.
   *
   * @param instant - milliseconds since the epoch, not before `now()`
   * @param options - see {@link DriveOptions}
   * @returns a promise; a RangeError rejects it if the instant is in the past
   */
  setTime(instant: number, options?: DriveOptions): Promise<void>;

  /**
   * Sets the wall clock alone, as NTP or a user would: `monotonic()` and timers do not notice.
   *
   * @param instant - milliseconds since the epoch, finite
   */
  setSystemTime(instant: number): void;

  /** How many timers, sleeps, tickers and timeouts are armed. */
  waiters(): number;

  /** Whether anything is armed. */
  hasWaiters(): boolean;

  /**
   * Resolves as soon as at least `count` waiters are armed: for code that something else started.
   *
   * @param count - a whole number, at least 0
   * @param options - see {@link WaitForWaitersOptions}
   * @returns a promise; an abort rejects it with `signal.reason`
   */
  waitForWaiters(count: number, options?: WaitForWaitersOptions): Promise<void>;

  /** The armed timers in firing order. */
  pending(): PendingTimer[];

  /**
   * Keeps `run` and `step` from moving time until disposed: they wait for the real event loop.
   *
   * @param label - what the report of a stuck drive calls it
   * @returns an object whose disposal lets time go on; doing so twice is harmless
   */
  hold(label?: string): Disposable;

  /**
   * Holds time for the life of a promise: the way to do real I/O inside {@link TestClock.run}.
   *
   * What it wraps must not wait for this clock, or both wait for ever (and `run` says so).
   *
   * @param work - the promise
   * @param label - what the report of a stuck drive calls it
   * @returns what `work` resolves or rejects with
   */
  external<Value>(work: PromiseLike<Value>, label?: string): Promise<Value>;

  /** Stops every timer. */
  [Symbol.dispose](): void;
}
