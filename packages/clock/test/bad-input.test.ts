import * as root from "@holdfast/clock";
import * as fakeTimers from "@holdfast/clock/fake-timers";
import * as rxjs from "@holdfast/clock/rxjs";
import * as testing from "@holdfast/clock/testing";
import { createClock } from "@sinonjs/fake-timers";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import * as kinds from "../../../test/bad-input.ts";

const { all, f, fields, finite, func, methods, object, refuses, string } = kinds;

const timing = { ref: kinds.unchecked, label: string };

const WALL = 946_684_800_000;
const from = (now: number): kinds.Kind =>
  all(finite, refuses(`RangeError: PATH must not be before now(), ${now}, got GOT`, now - 1));

const own = {
  timerOptions: object<root.TimerOptions>(timing),
  sleepOptions: object<root.SleepOptions>({ ...timing, signal: kinds.signal }),
  timeoutOptions: object<root.TimeoutOptions>({ label: string }),
  duration: all(
    finite,
    refuses("RangeError: PATH must be at least 0: time does not go back, got GOT", -1),
  ),
  turns: all(
    kinds.whole(0),
    refuses("RangeError: PATH must be a finite number, got Infinity", Number.POSITIVE_INFINITY),
  ),
  instantFrom0: from(0),
  [`instantFrom${WALL}`]: from(WALL),
  ties: object<{ seed: number }>({ seed: kinds.required(finite) }),
  errorClass: refuses(
    "TypeError: Class.code must be a string, got undefined",
    ...[undefined, null, Error],
  ),
  onLate: fields({ value: func, error: func }),
  faked: methods(
    "setTimeout",
    ...["clearTimeout", "countTimers", "runMicrotasks", "next", "tick", "setSystemTime", "hrtime"],
  ),
};
const sources = new URL("../src/", import.meta.url);
const { constructs, method, rejects, throws } = await kinds.doorsOf(sources, own);

const timed = (clock: root.Clock): kinds.Door[] => [
  method(clock, "afterFunc", "throws", [1, f], "delay: delay, fire: func, options?: timerOptions"),
  method(clock, "newTimer", "throws", [1], "delay: delay, options?: timerOptions"),
  method(clock, "sleep", "rejects", [1], "delay: delay, options?: sleepOptions"),
  method(clock, "sleepUntil", "rejects", [1], "deadline: instant, options?: sleepOptions"),
  method(clock, "newTicker", "throws", [1], "period: period, options?: timerOptions"),
  method(clock, "timeout", "throws", [1], "delay: delay, options?: timeoutOptions"),
];

const driven = (clock: testing.TestClock, now: number): kinds.Door[] => [
  method(clock, "run", "rejects", [f], "fn: func, options?: RUN_OPTIONS"),
  method(clock, "step", "rejects", [1], "duration: duration, options?: STEP_OPTIONS"),
  method(clock, "stepSync", "throws", [1], "duration: duration"),
  method(
    clock,
    "setTime",
    "rejects",
    [now + 1],
    `instant: instantFrom${now}, options?: STEP_OPTIONS`,
  ),
  method(clock, "setSystemTime", "throws", [now], "instant: finite"),
  method(
    clock,
    "waitForWaiters",
    "rejects",
    [1],
    "count: whole(0), options?: WAIT_FOR_WAITERS_OPTIONS",
  ),
  method(clock, "hold", "throws", [], "label?: string"),
  method(clock, "external", "rejects", [Promise.resolve()], "work: anything, label?: string"),
];

const fake = new testing.FakeClock();
const fakeDoors = [...timed(fake), ...driven(fake, WALL)];

describe("FakeClock", () => {
  const clock = fake;
  kinds.testBadInput(fakeDoors, () => {
    expect([clock.waiters(), clock.monotonic(), clock.now()]).toEqual([0, 1_000_000, WALL]);
  });

  it("runs after all refusals", async () => {
    await clock.run(() => clock.sleep(1));
    expect(clock.monotonic()).toBe(1_000_001);
  });
});

describe("a clock of faked timers", () => {
  const clock = fakeTimers.fromFakeTimers(createClock());
  kinds.testBadInput([...timed(clock), ...driven(clock, 0)], () => {
    expect([clock.waiters(), clock.now()]).toEqual([0, 0]);
  });
});

describe("realClock", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  kinds.testBadInput(timed(root.realClock), () => expect(vi.getTimerCount()).toBe(0));
});

describe("a timer", () => {
  class ManualTimer extends root.BaseTimer {
    readonly deadline = 0;
    protected override arm(): void {}
    protected override disarm(): void {}
  }
  const timers = [
    new ManualTimer(),
    new testing.FakeClock().newTimer(1),
    root.realClock.newTimer(60_000),
  ];
  const active = timers.map((timer) => timer.active);
  afterAll(() => timers.forEach((timer) => void timer.stop()));
  kinds.testBadInput(
    timers.map((timer) => method(timer, "reset", "throws", [1], "delay: delay")),
    () => expect(timers.map((timer) => timer.active)).toEqual(active),
  );
});

const clock = new testing.FakeClock();
const live = new AbortController().signal;
const doors = [
  throws(
    root.findError<Error>,
    [new Error("no"), testing.DeadlockError],
    "error: anything, Class?: errorClass",
  ),
  rejects(
    root.abortable,
    [f, live, {}],
    "work: func, signal: abortSignal, onLate?: onLate, argument: anything",
  ),
  rejects(root.aborted, [AbortSignal.abort()], "signal: abortSignal"),
  constructs(root.LinkedController, [live], "signal: abortSignal"),
  throws(root.onAbort, [live, f], "signal: abortSignal, callback: func"),
  {
    ...throws(root.onAbort, [AbortSignal.abort(), f], "signal: abortSignal, callback: func"),
    name: "onAbort of an aborted signal",
  },
  constructs(testing.FakeClock, [], "options?: FAKE_CLOCK_OPTIONS"),
  throws(rxjs.asScheduler, [clock], "clock: methods(now, monotonic, afterFunc)"),
  method(rxjs.asScheduler(clock), "schedule", "throws", [f], "work: func"),
  throws(rxjs.fromScheduler, [rxjs.asScheduler(clock)], "scheduler: methods(now, schedule)"),
  throws(fakeTimers.fromFakeTimers, [createClock()], "clock?: faked"),
];

kinds.testBadInput(doors, () => {
  expect([clock.waiters(), abortListeners(live)]).toEqual([0, 0]);
});

// Made by the library or by a subclass, without arguments to check.
const takeEverything = [
  root.BaseClock,
  root.BaseTimer,
  testing.DeadlockError,
  testing.LivelockError,
];
kinds.testEveryExport(
  new URL("../api/", import.meta.url),
  { index: root, testing, "fake-timers": fakeTimers, rxjs },
  [...doors, ...fakeDoors],
  takeEverything,
);
