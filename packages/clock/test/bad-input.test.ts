import * as root from "@holdfast/clock";
import {
  abortable,
  aborted,
  BaseClock,
  BaseTimer,
  type Clock,
  findError,
  LinkedController,
  onAbort,
  realClock,
  type SleepOptions,
  type TimeoutOptions,
  type TimerOptions,
} from "@holdfast/clock";
import * as fakeTimers from "@holdfast/clock/fake-timers";
import { fromFakeTimers } from "@holdfast/clock/fake-timers";
import * as rxjs from "@holdfast/clock/rxjs";
import { asScheduler, fromScheduler } from "@holdfast/clock/rxjs";
import * as testing from "@holdfast/clock/testing";
import { DeadlockError, FakeClock, LivelockError, type TestClock } from "@holdfast/clock/testing";
import { createClock } from "@sinonjs/fake-timers";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import {
  all,
  constructs,
  type Door,
  delay,
  except,
  fields,
  finite,
  func,
  instant,
  method,
  methods,
  object,
  optionsOf,
  period,
  rejects,
  required,
  signal,
  string,
  testBadInput,
  testEveryExport,
  throws,
  unchecked,
  whole,
} from "../../../test/bad-input.ts";
import { FAKE_CLOCK_OPTIONS } from "../src/testing/fake-clock.ts";
import { RUN_OPTIONS, STEP_OPTIONS } from "../src/testing/time-control.ts";
import { WAIT_FOR_WAITERS_OPTIONS } from "../src/testing/waiter-watch.ts";

function f(): void {}

const timing = { ref: unchecked, label: string };

const timed = (clock: Clock): Door[] => [
  method(
    clock,
    "afterFunc",
    "throws",
    [1, f],
    ["delay", required(delay)],
    ["fire", required(func)],
    ["options", object<TimerOptions>(timing)],
  ),
  method(
    clock,
    "newTimer",
    "throws",
    [1],
    ["delay", required(delay)],
    ["options", object<TimerOptions>(timing)],
  ),
  method(
    clock,
    "sleep",
    "rejects",
    [1],
    ["delay", required(delay)],
    ["options", object<SleepOptions>({ ...timing, signal })],
  ),
  method(
    clock,
    "sleepUntil",
    "rejects",
    [1],
    ["deadline", required(instant)],
    ["options", object<SleepOptions>({ ...timing, signal })],
  ),
  method(
    clock,
    "newTicker",
    "throws",
    [1],
    ["period", required(period)],
    ["options", object<TimerOptions>(timing)],
  ),
  method(
    clock,
    "timeout",
    "throws",
    [1],
    ["delay", required(delay)],
    ["options", object<TimeoutOptions>({ label: string })],
  ),
];

const WALL = 946_684_800_000;
const duration = all(
  finite,
  except(-1, "RangeError: duration must be at least 0: time does not go back, got -1"),
);
const turns = all(
  whole(0),
  except(
    Number.POSITIVE_INFINITY,
    "RangeError: options.turns must be a finite number, got Infinity",
  ),
);

const driven = (clock: TestClock, now: number): Door[] => [
  method(
    clock,
    "run",
    "rejects",
    [f],
    ["fn", required(func)],
    ["options", optionsOf(RUN_OPTIONS, { turns })],
  ),
  method(
    clock,
    "step",
    "rejects",
    [1],
    ["duration", required(duration)],
    ["options", optionsOf(STEP_OPTIONS, { turns })],
  ),
  method(clock, "stepSync", "throws", [1], ["duration", required(duration)]),
  method(
    clock,
    "setTime",
    "rejects",
    [now + 1],
    [
      "instant",
      required(
        all(
          finite,
          except(now - 1, `RangeError: instant must not be before now(), ${now}, got ${now - 1}`),
        ),
      ),
    ],
    ["options", optionsOf(STEP_OPTIONS, { turns })],
  ),
  method(clock, "setSystemTime", "throws", [now], ["instant", required(finite)]),
  method(
    clock,
    "waitForWaiters",
    "rejects",
    [1],
    ["count", required(whole(0))],
    ["options", optionsOf(WAIT_FOR_WAITERS_OPTIONS)],
  ),
  method(clock, "hold", "throws", [], ["label", string]),
  method(clock, "external", "rejects", [Promise.resolve()], ["work", unchecked], ["label", string]),
];

const fake = new FakeClock();
const fakeDoors = [...timed(fake), ...driven(fake, WALL)];

describe("FakeClock", () => {
  const clock = fake;
  testBadInput(fakeDoors, () => {
    expect([clock.waiters(), clock.monotonic(), clock.now()]).toEqual([0, 1_000_000, WALL]);
  });

  it("runs after all refusals", async () => {
    await clock.run(() => clock.sleep(1));
    expect(clock.monotonic()).toBe(1_000_001);
  });
});

describe("a clock of faked timers", () => {
  const clock = fromFakeTimers(createClock());
  testBadInput([...timed(clock), ...driven(clock, 0)], () => {
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
  testBadInput(timed(realClock), () => expect(vi.getTimerCount()).toBe(0));
});

describe("a timer", () => {
  class ManualTimer extends BaseTimer {
    readonly deadline = 0;
    protected override arm(): void {}
    protected override disarm(): void {}
  }
  const timers = [new ManualTimer(), new FakeClock().newTimer(1), realClock.newTimer(60_000)];
  const active = timers.map((timer) => timer.active);
  afterAll(() => timers.forEach((timer) => void timer.stop()));
  testBadInput(
    timers.map((timer) => method(timer, "reset", "throws", [1], ["delay", required(delay)])),
    () => expect(timers.map((timer) => timer.active)).toEqual(active),
  );
});

const clock = new FakeClock();
const live = new AbortController().signal;
const noCode = (got: string) => `TypeError: Class.code must be a string, got ${got}`;
const doors = [
  throws(
    findError<Error>,
    [new Error("no"), DeadlockError],
    ["error", unchecked],
    ["Class", all(...[undefined, null, Error].map((one) => except(one, noCode("undefined"))))],
  ),
  rejects(
    abortable,
    [f, live, {}],
    ["work", required(func)],
    ["signal", required(signal)],
    ["onLate", fields({ value: func, error: func })],
    ["argument", unchecked],
  ),
  rejects(aborted, [AbortSignal.abort()], ["signal", required(signal)]),
  constructs(
    LinkedController as new (
      signal: AbortSignal,
    ) => LinkedController,
    [live],
    ["signal", required(signal)],
  ),
  throws(onAbort, [live, f], ["signal", required(signal)], ["callback", required(func)]),
  {
    ...throws(
      onAbort,
      [AbortSignal.abort(), f],
      ["signal", required(signal)],
      ["callback", required(func)],
    ),
    name: "onAbort of an aborted signal",
  },
  constructs(
    FakeClock,
    [],
    [
      "options",
      optionsOf(FAKE_CLOCK_OPTIONS, { ties: object<{ seed: number }>({ seed: required(finite) }) }),
    ],
  ),
  throws(asScheduler, [clock], ["clock", required(methods("now", "monotonic", "afterFunc"))]),
  method(asScheduler(clock), "schedule", "throws", [f], ["work", required(func)]),
  throws(fromScheduler, [asScheduler(clock)], ["scheduler", required(methods("now", "schedule"))]),
  throws(
    fromFakeTimers,
    [createClock()],
    [
      "clock",
      methods(
        "setTimeout",
        "clearTimeout",
        "countTimers",
        "runMicrotasks",
        "next",
        "tick",
        "setSystemTime",
        "hrtime",
      ),
    ],
  ),
];

testBadInput(doors, () => {
  expect([clock.waiters(), abortListeners(live)]).toEqual([0, 0]);
});

// Made by the library or by a subclass, without arguments to check.
const takeEverything = [BaseClock, BaseTimer, DeadlockError, LivelockError];
testEveryExport(
  new URL("../api/", import.meta.url),
  { index: root, testing, "fake-timers": fakeTimers, rxjs },
  [...doors, ...fakeDoors],
  takeEverything,
);
