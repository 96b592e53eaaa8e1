/// <reference lib="esnext.disposable" preserve="true" />

/**
 * Reads time and nothing else: the type for code that does not wait.
 *
 * Source: `PassiveClock` of k8s.io/utils/clock. Go keeps both readings in one `time.Time`; here they are
 * two methods.
 *
 * @example
 * ```ts
 * import type { PassiveClock } from "@holdfast/clock";
 * import { FakeClock } from "@holdfast/clock/testing";
 *
 * function stopwatch(clock: PassiveClock): () => number {
 *   const start = clock.monotonic();
 *   return () => clock.monotonic() - start;
 * }
 *
 * const clock = new FakeClock();
 * const elapsed = stopwatch(clock);
 * await clock.step(1_500);
 * console.log(elapsed()); // => 1500
 * ```
 */
export interface PassiveClock {
  /**
   * The wall clock: milliseconds since the Unix epoch.
   *
   * It may jump either way (NTP, a user, a suspended machine). Show it or store it, but never subtract
   * it.
   */
  now(): number;

  /**
   * Milliseconds, with fractions, from an arbitrary origin; never goes back.
   *
   * The only source of durations and deadlines.
   */
  monotonic(): number;
}

/** Options for the timers of a {@link Clock}. */
export interface TimerOptions {
  /**
   * Whether the timer keeps the process alive. A fake clock records it and fires either way.
   *
   * @defaultValue `true`
   */
  readonly ref?: boolean | undefined;

  /**
   * Name of this timer. Fake clocks print it when a test is stuck.
   *
   * @defaultValue none
   */
  readonly label?: string | undefined;
}

/** Options for {@link Clock.sleep} and {@link Clock.sleepUntil}. */
export interface SleepOptions extends TimerOptions {
  /**
   * Signal that ends the sleep early: it rejects at once with `signal.reason`, the same object.
   *
   * All sleeps on one signal share one listener on it.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
}

/** Options for {@link Clock.timeout}. */
export interface TimeoutOptions {
  /**
   * Name of the timer behind the signal. Fake clocks print it when a test is stuck.
   *
   * @defaultValue none
   */
  readonly label?: string | undefined;
}

/**
 * A timer that fires once, and again after each {@link Timer.reset}.
 *
 * It is not thenable, so an async function can return a timer without waiting for it.
 *
 * Source: `Timer` of k8s.io/utils/clock; {@link Timer.fired} replaces Go's channel.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 *
 * const clock = new FakeClock();
 * const timer = clock.newTimer(1_000);
 *
 * console.log(timer.reset(3_000)); // => true
 * await clock.step(2_999);
 * console.log(timer.active); // => true
 * await clock.step(1);
 * console.log(await timer.fired); // => true
 * console.log(timer.stop()); // => false
 * ```
 */
export interface Timer extends Disposable {
  /**
   * Stops the timer before it fires.
   *
   * @returns true if this call stopped it; false if it had fired or was already stopped
   */
  stop(): boolean;

  /**
   * Arms the timer again, whether it is waiting, fired or stopped. It then fires after other timers
   * with the same deadline.
   *
   * @param delay - milliseconds from now; fractions count, below 0 means 0, `Infinity` means never
   * @returns true if it was still waiting to fire
   * @throws RangeError if `delay` is NaN, TypeError if it is not a number; the timer is then unchanged
   */
  reset(delay: number): boolean;

  /** Whether the timer is waiting to fire. */
  readonly active: boolean;

  /** The {@link PassiveClock.monotonic} instant at which the timer is, or was, due. */
  readonly deadline: number;

  /**
   * Resolves true when the timer fires and false when it is stopped. It never rejects.
   *
   * A reset of a waiting timer keeps the promise; a reset of a fired or stopped timer makes a new one.
   * The promise is created on first access.
   */
  readonly fired: Promise<boolean>;

  /** The same as {@link Timer.stop}, for `using`. */
  [Symbol.dispose](): void;
}

/**
 * Ticks at a fixed rate: at `start + period`, `start + 2 × period` and so on, without drift.
 *
 * It buffers one tick. A slow consumer receives that tick; {@link Ticker.dropped} counts the others.
 *
 * Source: `Ticker` of k8s.io/utils/clock. Unlike the fake one there, `stop` removes the ticker.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 *
 * const clock = new FakeClock();
 * const ticks = await clock.run(async () => {
 *   const start = clock.monotonic();
 *   const seen: number[] = [];
 *   for await (const at of clock.newTicker(250)) {
 *     seen.push(at - start);
 *     if (seen.length === 3) break;
 *   }
 *   return seen;
 * });
 * console.log(ticks); // => [ 250, 500, 750 ]
 * console.log(clock.waiters()); // => 0
 * ```
 */
export interface Ticker extends AsyncIterator<number, undefined>, Disposable {
  /**
   * Returns the buffered tick, or waits for the next one.
   *
   * @returns the {@link PassiveClock.monotonic} instant of the tick; done after {@link Ticker.stop}
   */
  next(): Promise<IteratorResult<number, undefined>>;

  /** Stops the ticker; `break` in `for await` calls it. */
  return(): Promise<IteratorResult<number, undefined>>;

  /**
   * Starts over with another period: the next tick comes one new period from now. Drops a buffered tick.
   * Restarts a stopped ticker.
   *
   * @param period - milliseconds, above 0; `Infinity` means never
   * @throws RangeError if `period` is not above 0, TypeError if it is not a number
   */
  reset(period: number): void;

  /** Ends the ticker: every `next()`, pending or future, resolves as done. */
  stop(): void;

  /** The ticker itself, for `for await`. */
  [Symbol.asyncIterator](): this;

  /** The number of ticks lost because the previous one had not been taken. */
  readonly dropped: number;

  /** The same as {@link Ticker.stop}, for `using`. */
  [Symbol.dispose](): void;
}

/**
 * An `AbortSignal` that aborts after a delay unless it is disposed first.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 *
 * const clock = new FakeClock();
 * const limit = clock.timeout(5_000);
 * limit[Symbol.dispose](); // the work finished in time
 * await clock.step(10_000);
 * console.log(limit.aborted); // => false
 * ```
 */
export interface TimeoutSignal extends AbortSignal, Disposable {
  /** Stops the timer; the signal then never aborts. */
  [Symbol.dispose](): void;
}

/**
 * Time as an argument: code that reads, waits for or measures time takes a clock.
 *
 * Durations come first and are in milliseconds, with fractions. Below 0 means 0, `Infinity` means
 * never, and there is no upper limit.
 *
 * | Implementation | from | for |
 * | --- | --- | --- |
 * | `realClock` | `@holdfast/clock` | production; follows faked globals too |
 * | `FakeClock` | `@holdfast/clock/testing` | tests of code that takes a clock |
 * | `fromFakeTimers()` | `@holdfast/clock/fake-timers` | tests of code that uses global timers |
 * | `fromScheduler()` | `@holdfast/clock/rxjs` | marble tests |
 *
 * To write another clock, extend {@link BaseClock}: it needs three methods.
 *
 * Source: `Clock`, `WithTicker` and `WithDelayedExecution` of k8s.io/utils/clock in one interface.
 * `After` and `Tick` are left out: they cannot be released (kubernetes/utils#196).
 *
 * @example
 * ```ts
 * import { type Clock, realClock } from "@holdfast/clock";
 * import { FakeClock } from "@holdfast/clock/testing";
 *
 * async function heartbeat(beat: () => void, signal: AbortSignal, clock: Clock = realClock) {
 *   for (;;) {
 *     beat();
 *     await clock.sleep(60_000, { signal });
 *   }
 * }
 *
 * const clock = new FakeClock();
 * const stop = new AbortController();
 * let beats = 0;
 * const done = heartbeat(() => beats++, stop.signal, clock).catch((reason) => reason);
 * await clock.step(3_600_000);
 * stop.abort("enough");
 * console.log(beats, await done); // => 61 enough
 * ```
 */
export interface Clock extends PassiveClock {
  /**
   * Calls `fire` once, `delay` from now or later, never earlier.
   *
   * `fire` is never called synchronously. It runs in the `AsyncLocalStorage` context of this call, if
   * the platform has `node:async_hooks`. An error it throws becomes an uncaught exception on the real
   * clock and rejects `step` or `run` on a fake one.
   *
   * @param delay - milliseconds; fractions count, below 0 means 0, `Infinity` means never
   * @param fire - the callback
   * @param options - see {@link TimerOptions}
   * @returns the timer, armed
   * @throws RangeError if `delay` is NaN, TypeError if an argument is of the wrong type
   */
  afterFunc(delay: number, fire: () => void, options?: TimerOptions): Timer;

  /**
   * A timer without a callback: wait for {@link Timer.fired}.
   *
   * @param delay - milliseconds; fractions count, below 0 means 0, `Infinity` means never
   * @param options - see {@link TimerOptions}
   * @returns the timer, armed
   * @throws RangeError if `delay` is NaN, TypeError if an argument is of the wrong type
   */
  newTimer(delay: number, options?: TimerOptions): Timer;

  /**
   * Resolves `delay` from now or later, never earlier.
   *
   * If the signal is aborted, or aborts before the deadline, the promise rejects at once with
   * `signal.reason` itself. No timer and no listener remain. Another listener cannot hide the abort
   * with `stopImmediatePropagation()`; in a browser without `AbortSignal.any` the sleep then rejects
   * when it wakes.
   *
   * @param delay - milliseconds; fractions count, below 0 means 0, `Infinity` means never
   * @param options - see {@link SleepOptions}
   * @returns a promise; bad arguments reject it with a RangeError or TypeError
   */
  sleep(delay: number, options?: SleepOptions): Promise<void>;

  /**
   * Sleeps until an instant of this clock. Unlike `sleep(deadline - now)`, it does not add the time
   * between reading `now` and the call (kubernetes/kubernetes#125581).
   *
   * @param deadline - a {@link PassiveClock.monotonic} instant; one in the past means now
   * @param options - see {@link SleepOptions}
   * @returns a promise; aborts and bad arguments as in {@link Clock.sleep}
   */
  sleepUntil(deadline: number, options?: SleepOptions): Promise<void>;

  /**
   * Ticks every `period`, first one period from now, until stopped.
   *
   * @param period - milliseconds, above 0; `Infinity` means never
   * @param options - see {@link TimerOptions}
   * @returns the ticker, started
   * @throws RangeError if `period` is not above 0, TypeError if an argument is of the wrong type
   */
  newTicker(period: number, options?: TimerOptions): Ticker;

  /**
   * A signal that aborts `delay` from now with a `TimeoutError` `DOMException`.
   *
   * `AbortSignal.timeout` on this clock: it accepts fractions and more than 2^31-1 ms, works on a fake
   * clock, and can be disposed. It does not keep the process alive. Unless disposed, it stays in memory
   * until it aborts.
   *
   * @param delay - milliseconds; fractions count, below 0 means 0, `Infinity` means never
   * @param options - see {@link TimeoutOptions}
   * @returns the signal
   * @throws RangeError if `delay` is NaN, TypeError if an argument is of the wrong type
   */
  timeout(delay: number, options?: TimeoutOptions): TimeoutSignal;
}
