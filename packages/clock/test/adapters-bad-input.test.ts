import { fromFakeTimers } from "@holdfast/clock/fake-timers";
import { asScheduler, fromScheduler } from "@holdfast/clock/rxjs";
import { FakeClock } from "@holdfast/clock/testing";
import { createClock } from "@sinonjs/fake-timers";
import { expect, it } from "vitest";

const bad = (value: unknown) => value as never;
const faked = fromFakeTimers(createClock());
const scheduler = asScheduler(new FakeClock());

/** Every door of the adapters: the call, and the whole message of its error. */
const CALLS: Record<string, [call: () => unknown, error: Error]> = {
  "asScheduler of no clock": [
    () => asScheduler(bad({})),
    new TypeError("clock must have a method now(), got [object Object]"),
  ],
  "schedule of no function": [
    () => scheduler.schedule(bad(5)),
    new TypeError("work must be a function, got 5"),
  ],
  "fromScheduler of nothing": [
    () => fromScheduler(bad(undefined)),
    new TypeError("scheduler must have a method now(), got undefined"),
  ],
  "fromScheduler of half a scheduler": [
    () => fromScheduler(bad({ now: () => 0 })),
    new TypeError("scheduler must have a method schedule(), got [object Object]"),
  ],
  "afterFunc of no function, on faked timers": [
    () => faked.afterFunc(1, bad(5)),
    new TypeError("fire must be a function, got 5"),
  ],
  "afterFunc with bad options, on faked timers": [
    () => faked.afterFunc(1, () => {}, bad(5)),
    new TypeError("options must be an object, got 5"),
  ],
  "setSystemTime of NaN, on faked timers": [
    () => faked.setSystemTime(Number.NaN),
    new RangeError("instant must be a finite number, got NaN"),
  ],
};

it.each(Object.keys(CALLS))("%s refuses a value of the wrong type", (name) => {
  const [call, error] = CALLS[name] as (typeof CALLS)[string];
  expect(call).toThrow(error);
  expect(faked.waiters()).toBe(0);
});
