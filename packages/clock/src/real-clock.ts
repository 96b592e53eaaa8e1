import type { Clock } from "./clock.ts";
import { HostClock } from "./host/host-clock.ts";
import type { TimerHost } from "./host/host-timer.ts";

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

class RealClock extends HostClock {
  override now(): number {
    return globalThis.Date.now();
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
