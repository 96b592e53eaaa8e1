import {
  type OptionNames,
  requireDelay,
  requireFunction,
  requireInstant,
  requireSignal,
  requireTimerOptions,
} from "@holdfast/kit";
import { bindMethods } from "./bind-methods.ts";
import type {
  Clock,
  SleepOptions,
  Ticker,
  TimeoutOptions,
  TimeoutSignal,
  Timer,
  TimerOptions,
} from "./clock.ts";
import { Sleep } from "./sleep.ts";
import { ClockTicker } from "./ticker.ts";

/** The options of every timer. */
const TIMER_OPTIONS: OptionNames<TimerOptions> = { ref: true, label: true };
const SLEEP_OPTIONS: OptionNames<SleepOptions> = { ...TIMER_OPTIONS, signal: true };
const TIMEOUT_OPTIONS: OptionNames<TimeoutOptions> = { label: true };

/** The methods of every clock. */
const METHODS = [
  "now",
  "monotonic",
  "afterFunc",
  "newTimer",
  "sleep",
  "sleepUntil",
  "newTicker",
  "timeout",
] as const satisfies readonly (keyof Clock)[];

function nothing(): void {}

/** Checks the arguments of `afterFunc`, and returns the delay. */
export function requireCallback(delay: number, fire: () => void, options: TimerOptions): number {
  const duration = requireDelay("delay", delay);
  requireFunction("fire", fire);
  requireTimerOptions(options, "afterFunc", TIMER_OPTIONS);
  return duration;
}

/**
 * The base of every {@link Clock}: implement `now`, `monotonic` and `afterFunc`, inherit the rest.
 *
 * The inherited methods hold one listener per signal, leave nothing behind after an abort, and tick
 * without drift.
 *
 * The timers of `afterFunc` must use the time of this clock, also in `deadline` and `reset`, which
 * tickers and loops use. Return the timer of another clock only if its `monotonic()` is the same;
 * otherwise extend {@link BaseTimer}.
 *
 * @example
 * A clock that runs at half speed.
 * ```ts
 * import { BaseClock, BaseTimer, type Clock, type Timer, type TimerOptions } from "@holdfast/clock";
 * import { FakeClock } from "@holdfast/clock/testing";
 *
 * class HalfSpeedClock extends BaseClock {
 *   readonly inner: Clock;
 *   constructor(inner: Clock) {
 *     super();
 *     this.inner = inner;
 *   }
 *   override now(): number {
 *     return this.inner.now() / 2;
 *   }
 *   override monotonic(): number {
 *     return this.inner.monotonic() / 2;
 *   }
 *   override afterFunc(delay: number, fire: () => void, options?: TimerOptions): Timer {
 *     const timer = new HalfSpeedTimer(this, fire, options);
 *     timer.reset(delay);
 *     return timer;
 *   }
 * }
 *
 * class HalfSpeedTimer extends BaseTimer {
 *   deadline = 0;
 *   readonly clock: HalfSpeedClock;
 *   readonly wakeUp: Timer;
 *   constructor(clock: HalfSpeedClock, fire: () => void, options?: TimerOptions) {
 *     super();
 *     this.clock = clock;
 *     const wake = () => {
 *       this.expire();
 *       fire();
 *     };
 *     this.wakeUp = clock.inner.afterFunc(Infinity, wake, options);
 *   }
 *   protected override arm(delay: number): void {
 *     this.deadline = this.clock.monotonic() + delay;
 *     this.wakeUp.reset(delay * 2);
 *   }
 *   protected override disarm(): void {
 *     this.wakeUp.stop();
 *   }
 * }
 *
 * const clock = new FakeClock();
 * const slow = new HalfSpeedClock(clock);
 * await clock.run(async () => {
 *   const start = clock.monotonic();
 *   await slow.sleep(100);
 *   console.log(clock.monotonic() - start); // => 200
 *   using ticker = slow.newTicker(50);
 *   for (let tick = 0; tick < 3; tick++) await ticker.next();
 *   console.log(clock.monotonic() - start); // => 500
 * });
 * ```
 */
export abstract class BaseClock implements Clock {
  /** Binds the methods of {@link Clock}: `const { sleep } = clock` works. */
  constructor() {
    bindMethods(this, METHODS);
  }

  abstract now(): number;

  abstract monotonic(): number;

  abstract afterFunc(delay: number, fire: () => void, options?: TimerOptions): Timer;

  /**
   * Like {@link Clock.afterFunc}, for callbacks that need no `AsyncLocalStorage` context because they
   * only settle a promise. Override it if keeping the context makes `afterFunc` slower.
   *
   * @param delay - milliseconds, at least 0, possibly `Infinity`
   * @param fire - the callback
   * @param options - see {@link TimerOptions}
   * @returns the timer, armed
   */
  protected arm(delay: number, fire: () => void, options: TimerOptions): Timer {
    return this.afterFunc(delay, fire, options);
  }

  newTimer(delay: number, options: TimerOptions = {}): Timer {
    const duration = requireDelay("delay", delay);
    requireTimerOptions(options, "newTimer", TIMER_OPTIONS);
    return this.arm(duration, nothing, options);
  }

  sleep(delay: number, options: SleepOptions = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      const duration = requireDelay("delay", delay);
      requireTimerOptions(options, "sleep", SLEEP_OPTIONS);
      const { signal, ref, label } = options;
      if (signal === undefined) {
        this.arm(duration, resolve, options);
        return;
      }
      requireSignal("options.signal", signal);
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const sleep = new Sleep(signal, resolve, reject);
      // Without the signal, because a clock may pass the options on to the `afterFunc` of another one.
      sleep.start(this.arm(duration, () => sleep.wake(), { ref, label }));
    });
  }

  sleepUntil(deadline: number, options: SleepOptions = {}): Promise<void> {
    return new Promise((resolve) => {
      const instant = requireInstant("deadline", deadline);
      resolve(this.sleep(instant - this.monotonic(), options));
    });
  }

  newTicker(period: number, options: TimerOptions = {}): Ticker {
    requireTimerOptions(options, "newTicker", TIMER_OPTIONS);
    return new ClockTicker(this, period, options);
  }

  timeout(delay: number, options: TimeoutOptions = {}): TimeoutSignal {
    requireTimerOptions(options, "timeout", TIMEOUT_OPTIONS);
    return timeoutSignal(this, delay, options);
  }
}

/** The signal of `clock.timeout()`. The timer references the controller, so garbage collection loses no abort. */
function timeoutSignal(clock: Clock, delay: number, options: TimeoutOptions): TimeoutSignal {
  const controller = new AbortController();
  const expire = (): void => {
    controller.abort(new DOMException(`timed out after ${delay} ms`, "TimeoutError"));
  };
  const timer = clock.afterFunc(delay, expire, { ref: false, label: options.label });
  return Object.assign(controller.signal, {
    [Symbol.dispose]: (): void => {
      timer.stop();
    },
  });
}
