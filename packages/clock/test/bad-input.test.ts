import { BaseTimer, type Clock, onAbort, realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

interface Case {
  readonly method: string;
  readonly args: readonly unknown[];
  readonly error: RangeError | TypeError;
}

function f(): void {}
const signal = { aborted: false };

const delays = (method: string, ...rest: unknown[]): Case[] =>
  [
    { value: undefined, got: "undefined" },
    { value: null, got: "null" },
    { value: "5", got: '"5"' },
    { value: 5n, got: "5" },
    { value: true, got: "true" },
    { value: [5], got: "[object Array]" },
    { value: new Date(0), got: "[object Date]" },
    { value: f, got: "function f" },
    { value: () => {}, got: "function value" },
    { value: (() => () => {})(), got: "function (anonymous)" },
    { value: Symbol("five"), got: "Symbol(five)" },
  ]
    .map(({ value, got }) => ({
      method,
      args: [value, ...rest],
      error: new TypeError(`delay must be a number of milliseconds, got ${got}`),
    }))
    .concat({
      method,
      args: [Number.NaN, ...rest],
      error: new RangeError("delay must be a number of milliseconds, got NaN"),
    });

const options = (method: string, ...first: unknown[]): Case[] => [
  {
    method,
    args: [...first, null],
    error: new TypeError("options must be an object, got null"),
  },
  { method, args: [...first, 5], error: new TypeError("options must be an object, got 5") },
  {
    method,
    args: [...first, f],
    error: new TypeError("options must be an object, got function f"),
  },
];

const signals = (method: string, ...first: unknown[]): Case[] => [
  {
    method,
    args: [...first, { signal: null }],
    error: new TypeError("options.signal must be an AbortSignal, got null"),
  },
  {
    method,
    args: [...first, { signal: 5 }],
    error: new TypeError("options.signal must be an AbortSignal, got 5"),
  },
  {
    method,
    args: [...first, { signal }],
    error: new TypeError("options.signal must be an AbortSignal, got [object Object]"),
  },
  {
    method,
    args: [...first, { signal: new AbortController() }],
    error: new TypeError("options.signal must be an AbortSignal, got [object AbortController]"),
  },
];

const every: Case[] = [
  ...delays("afterFunc", f),
  ...options("afterFunc", 1, f),
  {
    method: "afterFunc",
    args: [1],
    error: new TypeError("fire must be a function, got undefined"),
  },
  { method: "afterFunc", args: [1, "f"], error: new TypeError('fire must be a function, got "f"') },
  {
    method: "afterFunc",
    args: [1, {}],
    error: new TypeError("fire must be a function, got [object Object]"),
  },
  ...delays("newTimer"),
  ...options("newTimer", 1),
  ...delays("sleep"),
  ...options("sleep", 1),
  ...signals("sleep", 1),
  {
    method: "sleepUntil",
    args: ["5"],
    error: new TypeError('deadline must be an instant in milliseconds, got "5"'),
  },
  {
    method: "sleepUntil",
    args: [Number.NaN],
    error: new RangeError("deadline must be an instant in milliseconds, got NaN"),
  },
  ...options("sleepUntil", 1),
  ...signals("sleepUntil", 1),
  {
    method: "newTicker",
    args: ["5"],
    error: new TypeError('period must be a number of milliseconds above 0, got "5"'),
  },
  {
    method: "newTicker",
    args: [0],
    error: new RangeError("period must be a number of milliseconds above 0, got 0"),
  },
  {
    method: "newTicker",
    args: [-1],
    error: new RangeError("period must be a number of milliseconds above 0, got -1"),
  },
  {
    method: "newTicker",
    args: [Number.NaN],
    error: new RangeError("period must be a number of milliseconds above 0, got NaN"),
  },
  ...options("newTicker", 1),
  ...delays("timeout"),
  ...options("timeout", 1),
];

const whole = (method: string, name: string, first: unknown[], wrap: (value: unknown) => unknown) =>
  [
    { value: "1", got: '"1"', Class: TypeError },
    { value: 0.5, got: "0.5", Class: RangeError },
    { value: -1, got: "-1", Class: RangeError },
    { value: Number.NaN, got: "NaN", Class: RangeError },
  ].map(({ value, got, Class }) => ({
    method,
    args: [...first, wrap(value)],
    error: new Class(`${name} must be a whole number of at least 0, got ${got}`),
  }));

const notNegative = (method: string, first: unknown[]) =>
  [
    { value: "1", got: '"1"', Class: TypeError },
    { value: -1, got: "-1", Class: RangeError },
    { value: Number.NaN, got: "NaN", Class: RangeError },
  ].map(({ value, got, Class }) => ({
    method,
    args: [...first, { stallMs: value }],
    error: new Class(`options.stallMs must be a number of at least 0, got ${got}`),
  }));

const finite = (method: string, name: string) =>
  [
    { value: undefined, got: "undefined", Class: TypeError },
    { value: "1", got: '"1"', Class: TypeError },
    { value: Number.NaN, got: "NaN", Class: RangeError },
    { value: Number.POSITIVE_INFINITY, got: "Infinity", Class: RangeError },
  ].map(({ value, got, Class }) => ({
    method,
    args: [value],
    error: new Class(`${name} must be a finite number, got ${got}`),
  }));

const endless = { turns: Number.POSITIVE_INFINITY };
const notEndless = new RangeError("options.turns must be a finite number, got Infinity");

const fake: Case[] = [
  { method: "run", args: [], error: new TypeError("fn must be a function, got undefined") },
  { method: "run", args: [5], error: new TypeError("fn must be a function, got 5") },
  {
    method: "run",
    args: [Promise.resolve()],
    error: new TypeError("fn must be a function, got [object Promise]"),
  },
  ...options("run", f),
  ...signals("run", f),
  ...whole("run", "options.turns", [f], (turns) => ({ turns })),
  { method: "run", args: [f, endless], error: notEndless },
  ...notNegative("run", [f]),
  ...whole("run", "options.maxTimers", [f], (maxTimers) => ({ maxTimers })),
  ...finite("step", "duration"),
  {
    method: "step",
    args: [-1],
    error: new RangeError("duration must be at least 0: time does not go back, got -1"),
  },
  ...options("step", 1),
  ...whole("step", "options.turns", [1], (turns) => ({ turns })),
  { method: "step", args: [1, endless], error: notEndless },
  ...notNegative("step", [1]),
  ...finite("stepSync", "duration"),
  {
    method: "stepSync",
    args: [-1],
    error: new RangeError("duration must be at least 0: time does not go back, got -1"),
  },
  ...finite("setTime", "instant"),
  {
    method: "setTime",
    args: [0],
    error: new RangeError("instant must not be before now(), 946684800000, got 0"),
  },
  ...options("setTime", 946_684_800_000),
  ...finite("setSystemTime", "instant"),
  ...whole("waitForWaiters", "count", [], (count) => count),
  ...options("waitForWaiters", 1),
  ...signals("waitForWaiters", 1),
];

const PROMISED = new Set(["sleep", "sleepUntil", "run", "step", "setTime", "waitForWaiters"]);

/** How a call ends, and by which way its error came. */
async function outcomeOf(target: object, { method, args }: Case): Promise<unknown> {
  let result: unknown;
  try {
    result = Reflect.apply(Reflect.get(target, method), target, args);
  } catch (thrown) {
    return { thrown };
  }
  if (!(result instanceof Promise)) return { returned: result };
  return await result.then(
    (resolved: unknown) => ({ resolved }),
    (rejected: unknown) => ({ rejected }),
  );
}

function expectedOf({ method, error }: Case): unknown {
  return PROMISED.has(method) ? { rejected: error } : { thrown: error };
}

describe("FakeClock refuses", () => {
  it.each([...every, ...fake])("$method($args)", async (row) => {
    const clock = new FakeClock();
    expect(await outcomeOf(clock, row)).toStrictEqual(expectedOf(row));
    expect([clock.waiters(), clock.monotonic(), clock.now()]).toEqual([
      0, 1_000_000, 946_684_800_000,
    ]);
    await clock.run(() => clock.sleep(1));
  });

  it.each([
    { args: [null], error: new TypeError("options must be an object, got null") },
    { args: [{ now: "0" }], error: new TypeError('options.now must be a finite number, got "0"') },
    {
      args: [{ now: Number.NaN }],
      error: new RangeError("options.now must be a finite number, got NaN"),
    },
    {
      args: [{ ties: "lifo" }],
      error: new TypeError('options.ties must be an object, got "lifo"'),
    },
    { args: [{ ties: null }], error: new TypeError("options.ties must be an object, got null") },
    {
      args: [{ ties: {} }],
      error: new TypeError("options.ties.seed must be a finite number, got undefined"),
    },
    {
      args: [{ ties: { seed: Number.NaN } }],
      error: new RangeError("options.ties.seed must be a finite number, got NaN"),
    },
  ])("to be made with $args", ({ args, error }) => {
    expect(() => Reflect.construct(FakeClock, args)).toThrow(error);
  });
});

describe("realClock refuses", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each(every)("$method($args)", async (row) => {
    expect(await outcomeOf(realClock, row)).toStrictEqual(expectedOf(row));
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a timer refuses", () => {
  class ManualTimer extends BaseTimer {
    readonly deadline = 0;
    armed = 0;
    protected override arm(): void {
      this.armed++;
    }
    protected override disarm(): void {
      this.armed--;
    }
  }

  it.each(delays("reset"))("$method($args)", async (row) => {
    const timers: ReturnType<Clock["newTimer"]>[] = [
      new ManualTimer(),
      new FakeClock().newTimer(1),
      realClock.newTimer(60_000),
    ];
    for (const timer of timers) {
      const active = timer.active;
      expect(await outcomeOf(timer, row)).toStrictEqual(expectedOf(row));
      expect(timer.active).toBe(active);
      timer.stop();
    }
  });
});

describe("onAbort refuses", () => {
  const live = new AbortController().signal;
  it.each([
    { args: [], error: new TypeError("signal must be an AbortSignal, got undefined") },
    { args: [null, f], error: new TypeError("signal must be an AbortSignal, got null") },
    {
      args: [signal, f],
      error: new TypeError("signal must be an AbortSignal, got [object Object]"),
    },
    { args: [live], error: new TypeError("callback must be a function, got undefined") },
    {
      args: [AbortSignal.abort()],
      error: new TypeError("callback must be a function, got undefined"),
    },
    { args: [live, "f"], error: new TypeError('callback must be a function, got "f"') },
  ])("onAbort($args)", ({ args, error }) => {
    expect(() => Reflect.apply(onAbort, undefined, args)).toThrow(error);
  });
});
