import { AsyncResource } from "node:async_hooks";
import { Alarm } from "./alarm.ts";
import { AlarmSleep } from "./alarm-sleep.ts";
import type { Clock, SleepOptions } from "./clock.ts";
import { HostClock } from "./host-clock.ts";
import type { TimerHost } from "./host-timer.ts";

type Globals = Pick<typeof globalThis, "setTimeout" | "clearTimeout" | "performance">;

/** Whatever is found in `globals` at the moment. */
function hostOn(globals: Globals): TimerHost {
  return {
    longest: 2 ** 31 - 1,
    booksForever: true,
    monotonic: () => globals.performance.now(),
    set(wake, delay, ref) {
      const { setTimeout } = globals; // not called as a method: browsers' know one object only
      // Fakes of browser environments return a number, which has no unref.
      const handle: { unref?: () => unknown } = setTimeout(wake, Math.ceil(delay));
      if (!ref) handle.unref?.();
      return handle;
    },
    clear(handle) {
      const timer = handle as { close?: () => unknown };
      const { clearTimeout } = globals;
      // Node's own is not known to a clearTimeout that was faked after it had been set.
      if (timer.close === undefined) clearTimeout(timer as NodeJS.Timeout);
      else timer.close();
    },
  };
}

/** A timer for all would keep the context of the first who sleeps for as long as anyone does. */
const nowhere = new AsyncResource("HoldfastAlarm");

/** What measures the time, as this module found it. */
const ownPerformance = globalThis.performance;
const { now: ownNow } = ownPerformance;

/** A host whose timers keep nobody's context, and whose time is never faked. */
function sharedHostOn(globals: Globals): TimerHost {
  const host = hostOn(globals);
  return {
    ...host,
    monotonic: () => ownNow.call(ownPerformance),
    set: (wake, delay, ref) => nowhere.runInAsyncScope(host.set, host, wake, delay, ref),
  };
}

/** How many timers keep the process alive, as far as the machine knows. */
function countTimeouts(): number {
  const names = globalThis.process.getActiveResourcesInfo?.();
  return names?.filter((name) => name === "Timeout").length ?? 0;
}

/** The globals of a while, and who sleeps on them. */
class Bed {
  readonly #globals: Globals;
  /** What tells whose time it is: spies replace it in place. */
  readonly #now: () => number;
  readonly #alarm: Alarm;
  readonly #idleAlarm: Alarm;
  #isReal: boolean | undefined = undefined;

  constructor({ setTimeout, clearTimeout, performance }: Globals) {
    this.#globals = { setTimeout, clearTimeout, performance };
    this.#now = performance.now;
    if (this.#now !== ownNow) this.#isReal = false;
    const host = sharedHostOn(this.#globals);
    this.#alarm = new Alarm(host, true);
    this.#idleAlarm = new Alarm(host, false);
  }

  /**
   * Whether timers and time are the machine's own; undefined until a timer was seen. On others
   * nothing is shared: fakes forget timers when they are told to, and would forget all; and a time
   * that jumps says nothing about who is due.
   */
  get isReal(): boolean | undefined {
    return this.#isReal;
  }

  isOf({ setTimeout, performance }: Globals): boolean {
    return setTimeout === this.#globals.setTimeout && performance.now === this.#now;
  }

  alarm(ref: boolean): Alarm {
    return ref ? this.#alarm : this.#idleAlarm;
  }

  /** Arms a timer with `ref`, and looks whether the machine knows of it. */
  look(arm: () => void): void {
    const before = countTimeouts();
    arm();
    this.#isReal = countTimeouts() > before;
  }
}

class RealClock extends HostClock {
  #bed = new Bed(globalThis);

  override now(): number {
    return globalThis.Date.now();
  }

  /** @internal */
  protected override beginSleep(
    delay: number,
    resolve: () => void,
    reject: (reason: unknown) => void,
    options: SleepOptions,
  ): void {
    const { ref = true, signal } = options;
    // What sleeps on globals that are replaced goes on with those.
    if (!this.#bed.isOf(globalThis)) this.#bed = new Bed(globalThis);
    const bed = this.#bed;
    if (bed.isReal) {
      new AlarmSleep(bed.alarm(ref), resolve, reject).start(delay, signal);
    } else if (bed.isReal === undefined && ref) {
      bed.look(() => super.beginSleep(delay, resolve, reject, options));
    } else {
      super.beginSleep(delay, resolve, reject, options);
    }
  }
}

/**
 * The machine's clock.
 *
 * It keeps promises that Node's timers do not:
 *
 * | | `setTimeout` | `realClock` |
 * | --- | --- | --- |
 * | fires early | up to 1 ms, for 1 to 3 % of all timers | never, measured by `monotonic()` |
 * | 1.9 ms | counts as 1 | at least 1.9 |
 * | more than 2^31-1 ms, `Infinity` | fires after 1 ms | waits; never |
 * | `NaN` | fires after 1 ms | `RangeError` |
 * | 0 or below | after 1 ms | after 1 ms: never in this turn of the event loop |
 * | 100,000 sleeps | a timer each | one timer for all, unless timers are faked |
 *
 * `setTimeout`, `performance` and `Date` are looked up on `globalThis` at each call, so
 * @sinonjs/fake-timers, `vi.useFakeTimers()`, `jest.useFakeTimers()` and `mock.timers` of
 * `node:test` drive it. An infinite timer with `ref` keeps the process alive like any other.
 *
 * Source: `RealClock` of k8s.io/utils/clock.
 *
 * @example
 * ```ts
 * import { realClock } from "@holdfast/clock";
 *
 * const start = realClock.monotonic();
 * await realClock.sleep(1.9);
 * console.log(realClock.monotonic() - start >= 1.9); // => true
 * ```
 */
export const realClock: Clock = new RealClock(hostOn(globalThis));
