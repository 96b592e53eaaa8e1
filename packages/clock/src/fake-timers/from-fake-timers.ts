import { requireMethods } from "@holdfast/kit";
import { BaseTestClock, STALL_LIMITS } from "../testing/base-test-clock.ts";
import type { TestClock } from "../testing/test-clock.ts";
import type { FakeTimersClock } from "./fake-timers-clock.ts";
import { FakedTime } from "./faked-time.ts";

const METHODS = [
  "setTimeout",
  "clearTimeout",
  "countTimers",
  "runMicrotasks",
  "next",
  "tick",
  "setSystemTime",
  "hrtime",
];

/** The library stores its clock on every global function that it replaces; Bun marks its own fakes with `true`. */
function installedClock(): FakeTimersClock {
  const { clock } = globalThis.setTimeout as { readonly clock?: FakeTimersClock | true | null };
  if (typeof clock === "object" && clock !== null) return clock;
  throw new TypeError(
    "no fake timers of @sinonjs/fake-timers are installed: call its install(), vi.useFakeTimers() of vitest or jest.useFakeTimers() of jest before fromFakeTimers(), or pass it a clock",
  );
}

/**
 * Turns a clock of @sinonjs/fake-timers into a {@link TestClock}, for tests of code that calls global
 * timers, alone or next to code that takes a clock.
 *
 * One timeline drives `setTimeout`, `setInterval` and `Date` of the code under test and the timers of
 * the returned clock. `run`, `external` and `DeadlockError` work as on `FakeClock`.
 * `vi.useFakeTimers()` of vitest and `jest.useFakeTimers()` of jest also install that library. `mock.timers` of
 * `node:test` and the fake timers of Bun do not; only `realClock` follows them.
 *
 * Import this module before you install the fakes. Call `fromFakeTimers()` after installing, once per
 * installation, and move time only through the returned clock. Leave `nextTick`, `queueMicrotask` and
 * `setImmediate` real, or streams and `fetch` hang.
 *
 * | | `FakeClock` | this one |
 * | --- | --- | --- |
 * | resolution | 1 ns | 1 ms; deadlines are rounded up, and `now()` is whole |
 * | `waiters()` | its own timers | also the global timers |
 * | `pending()` | in firing order | its own in firing order, then one entry per global timer with a deadline of `NaN`: the library does not expose it |
 * | immediates between timers of one instant | run after all of them | run between them |
 * | a delay of 0 armed by the callback of a global timer | fires at that instant | fires 1 ms later |
 * | disposal | stops every timer | does not stop global timers |
 *
 * @param clock - the result of `install()`, `createClock()` or `withGlobal(…).install()`; by default the
 * clock behind `globalThis.setTimeout`
 * @returns a test clock over the same time
 * @throws TypeError if no fake timers of the library are installed, or `clock` is not a clock of the library
 *
 * @example
 * ```ts
 * import { install } from "@sinonjs/fake-timers";
 * import { fromFakeTimers } from "@holdfast/clock/fake-timers";
 *
 * const fake = install({ now: 0, toFake: ["setTimeout", "clearTimeout", "Date"] });
 * const clock = fromFakeTimers();
 * const seen: string[] = [];
 * await clock.run(async () => {
 *   setTimeout(() => seen.push(`global timer at ${Date.now()}`), 1_500);
 *   await clock.sleep(1_000);
 *   seen.push(`sleep until ${clock.now()}`);
 *   await clock.sleep(1_000);
 * });
 * fake.uninstall();
 * console.log(seen.join(", ")); // => sleep until 1000, global timer at 1500
 * ```
 */
export function fromFakeTimers(clock: FakeTimersClock = installedClock()): TestClock {
  requireMethods("clock", clock, METHODS);
  return new BaseTestClock(new FakedTime(clock), STALL_LIMITS);
}
