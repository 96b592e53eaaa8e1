import { type LoopClock, machineLoop } from "@holdfast/kit";
import type { Clock } from "./clock.ts";
import { HostClock } from "./host/host-clock.ts";
import { afterTurn, globalTimers, keepAlive } from "./host/platform.ts";

/** The event loop of the machine, which only code on the real clock asks for. */
const loop: Pick<LoopClock, typeof machineLoop> = {
  [machineLoop]: {
    afterTurn,
    keepAlive,
    get measuresTimers() {
      return globalTimers.measuresTimers;
    },
  },
};

/**
 * The clock of the machine.
 *
 * It corrects the timers of the platform:
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
 * @sinonjs/fake-timers, `vi.useFakeTimers()`, `jest.useFakeTimers()` and `mock.timers` of `node:test`
 * drive it. If they fake `setTimeout` but not `performance`, sleeps and tickers follow the faked
 * timers, with each period rounded up to whole milliseconds, and `monotonic()` shows real time.
 *
 * Every timer, sleep and ticker is one `setTimeout`. An infinite timer with `ref` keeps the process alive
 * like any other; without Node's timer objects, as in a browser, `ref` has no effect.
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
export const realClock: Clock = Object.assign(new HostClock(globalTimers), loop);
