import { FakeClock } from "@holdfast/clock/testing";
import {
  Backoff,
  BinaryExponentialBackoff,
  backoffUntil,
  connectWithBackoff,
  DecorrelatedJitterBackoff,
  EqualJitterBackoff,
  ExponentialBackoffManager,
  expectedSlots,
  FullJitterBackoff,
  forever,
  GrpcBackoff,
  grpcBackoff,
  JitteredBackoffManager,
  jitter,
  jitterUntil,
  keepConnected,
  managerOf,
  nonSlidingUntil,
  SymmetricJitterBackoff,
  seededRandom,
  until,
} from "@holdfast/wait";
import { describe, expect, it } from "vitest";
import { abortListeners } from "./abort-listeners.ts";

const clock = new FakeClock();
const { signal } = new AbortController();
const f = () => {
  throw new Error("a call with bad arguments must not get this far");
};
const manager = managerOf({ delayFunc: () => () => 1 }, clock);
const strategy = { delayFunc: () => () => 1 };

const construct =
  (door: new (...args: never[]) => object) =>
  (...args: readonly unknown[]) =>
    Reflect.construct(door, args) as object;

const apply =
  (door: (...args: never[]) => unknown) =>
  (...args: readonly unknown[]) =>
    Reflect.apply(door, undefined, args) as unknown;

const doors = {
  "new Backoff": construct(Backoff),
  delayWithReset: (...args: readonly unknown[]) =>
    Reflect.apply(Backoff.prototype.delayWithReset, new Backoff({ duration: 1 }), args) as unknown,
  "new BinaryExponentialBackoff": construct(BinaryExponentialBackoff),
  "new DecorrelatedJitterBackoff": construct(DecorrelatedJitterBackoff),
  "new EqualJitterBackoff": construct(EqualJitterBackoff),
  "new FullJitterBackoff": construct(FullJitterBackoff),
  "new GrpcBackoff": construct(GrpcBackoff),
  "new SymmetricJitterBackoff": construct(SymmetricJitterBackoff),
  expectedSlots: apply(expectedSlots),
  grpcBackoff: apply(grpcBackoff),
  jitter: apply(jitter),
  seededRandom: apply(seededRandom),
  managerOf: apply(managerOf),
  "new ExponentialBackoffManager": construct(ExponentialBackoffManager),
  "new JitteredBackoffManager": construct(JitteredBackoffManager),
};

const promisingDoors = {
  backoffUntil: apply(backoffUntil),
  jitterUntil: apply(jitterUntil),
  until: apply(until),
  nonSlidingUntil: apply(nonSlidingUntil),
  forever: apply(forever),
  connectWithBackoff: apply(connectWithBackoff),
  keepConnected: apply(keepConnected),
  "connectWithBackoff (options)": (...args: readonly unknown[]) =>
    Reflect.apply(connectWithBackoff, undefined, [f, ...args]) as unknown,
  "keepConnected (options)": (...args: readonly unknown[]) =>
    Reflect.apply(keepConnected, undefined, [f, f, ...args]) as unknown,
};

type Row<Door> = readonly [
  door: Door,
  args: readonly unknown[],
  error: typeof RangeError | typeof TypeError,
  message: string,
];

const duration = 1;
const inf = Number.POSITIVE_INFINITY;

const thrown: readonly Row<keyof typeof doors>[] = [
  ["new Backoff", [], TypeError, "options must be an object, got undefined"],
  ["new Backoff", [null], TypeError, "options must be an object, got null"],
  ["new Backoff", [100], TypeError, "options must be an object, got 100"],
  [
    "new Backoff",
    [{}],
    TypeError,
    "options.duration must be a finite number of at least 0, got undefined",
  ],
  [
    "new Backoff",
    [{ duration: "1" }],
    TypeError,
    'options.duration must be a finite number of at least 0, got "1"',
  ],
  [
    "new Backoff",
    [{ duration: 1n }],
    TypeError,
    "options.duration must be a finite number of at least 0, got 1",
  ],
  [
    "new Backoff",
    [{ duration: -1 }],
    RangeError,
    "options.duration must be a finite number of at least 0, got -1",
  ],
  [
    "new Backoff",
    [{ duration: Number.NaN }],
    RangeError,
    "options.duration must be a finite number of at least 0, got NaN",
  ],
  [
    "new Backoff",
    [{ duration: inf }],
    RangeError,
    "options.duration must be a finite number of at least 0, got Infinity",
  ],
  [
    "new Backoff",
    [{ duration, factor: null }],
    TypeError,
    "options.factor must be a number above 0, got null",
  ],
  [
    "new Backoff",
    [{ duration, factor: 0 }],
    RangeError,
    "options.factor must be a number above 0, got 0",
  ],
  [
    "new Backoff",
    [{ duration, factor: -2 }],
    RangeError,
    "options.factor must be a number above 0, got -2",
  ],
  [
    "new Backoff",
    [{ duration, factor: Number.NaN }],
    RangeError,
    "options.factor must be a number above 0, got NaN",
  ],
  [
    "new Backoff",
    [{ duration, factor: inf }],
    RangeError,
    "options.factor must be a finite number, got Infinity",
  ],
  [
    "new Backoff",
    [{ duration, jitter: null }],
    TypeError,
    "options.jitter must be a finite number of at least 0, got null",
  ],
  [
    "new Backoff",
    [{ duration, jitter: -0.1 }],
    RangeError,
    "options.jitter must be a finite number of at least 0, got -0.1",
  ],
  [
    "new Backoff",
    [{ duration, jitter: Number.NaN }],
    RangeError,
    "options.jitter must be a finite number of at least 0, got NaN",
  ],
  [
    "new Backoff",
    [{ duration, jitter: inf }],
    RangeError,
    "options.jitter must be a finite number of at least 0, got Infinity",
  ],
  [
    "new Backoff",
    [{ duration, steps: "3" }],
    TypeError,
    'options.steps must be a whole number of at least 0, got "3"',
  ],
  [
    "new Backoff",
    [{ duration, steps: -1 }],
    RangeError,
    "options.steps must be a whole number of at least 0, got -1",
  ],
  [
    "new Backoff",
    [{ duration, steps: 1.5 }],
    RangeError,
    "options.steps must be a whole number of at least 0, got 1.5",
  ],
  [
    "new Backoff",
    [{ duration, steps: Number.NaN }],
    RangeError,
    "options.steps must be a whole number of at least 0, got NaN",
  ],
  [
    "new Backoff",
    [{ duration, cap: true }],
    TypeError,
    "options.cap must be a number above 0, got true",
  ],
  [
    "new Backoff",
    [{ duration, cap: 0 }],
    RangeError,
    "options.cap must be a number above 0, got 0",
  ],
  [
    "new Backoff",
    [{ duration, cap: Number.NaN }],
    RangeError,
    "options.cap must be a number above 0, got NaN",
  ],
  [
    "new Backoff",
    [{ duration, capAfterJitter: 1 }],
    TypeError,
    "options.capAfterJitter must be true or false, got 1",
  ],
  [
    "new Backoff",
    [{ duration, random: 0.5 }],
    TypeError,
    "options.random must be a function, got 0.5",
  ],
  [
    "new Backoff",
    [{ duration, random: null }],
    TypeError,
    "options.random must be a function, got null",
  ],

  ...(["new EqualJitterBackoff", "new FullJitterBackoff"] as const).flatMap(
    (door): readonly Row<typeof door>[] => [
      [door, [], TypeError, "options must be an object, got undefined"],
      [
        door,
        [{}],
        TypeError,
        "options.duration must be a finite number of at least 0, got undefined",
      ],
      [
        door,
        [{ duration, factor: 0 }],
        RangeError,
        "options.factor must be a number above 0, got 0",
      ],
      [
        door,
        [{ duration, steps: -1 }],
        RangeError,
        "options.steps must be a whole number of at least 0, got -1",
      ],
      [door, [{ duration, cap: 0 }], RangeError, "options.cap must be a number above 0, got 0"],
      [door, [{ duration, random: 1 }], TypeError, "options.random must be a function, got 1"],
    ],
  ),

  ["new DecorrelatedJitterBackoff", [], TypeError, "options must be an object, got undefined"],
  [
    "new DecorrelatedJitterBackoff",
    [{ duration: -1 }],
    RangeError,
    "options.duration must be a finite number of at least 0, got -1",
  ],
  [
    "new DecorrelatedJitterBackoff",
    [{ duration, factor: 0.9 }],
    RangeError,
    "options.factor must be a finite number of at least 1, got 0.9",
  ],
  [
    "new DecorrelatedJitterBackoff",
    [{ duration, cap: Number.NaN }],
    RangeError,
    "options.cap must be a number above 0, got NaN",
  ],
  [
    "new DecorrelatedJitterBackoff",
    [{ duration, random: null }],
    TypeError,
    "options.random must be a function, got null",
  ],

  ...(["new SymmetricJitterBackoff", "new GrpcBackoff"] as const).flatMap(
    (door): readonly Row<typeof door>[] => [
      [door, [null], TypeError, "options must be an object, got null"],
      [
        door,
        [{ duration: inf }],
        RangeError,
        "options.duration must be a finite number of at least 0, got Infinity",
      ],
      [door, [{ factor: 0 }], RangeError, "options.factor must be a number above 0, got 0"],
      [door, [{ factor: inf }], RangeError, "options.factor must be a finite number, got Infinity"],
      [
        door,
        [{ jitter: -0.2 }],
        RangeError,
        "options.jitter must be a number from 0 to 1, got -0.2",
      ],
      [door, [{ jitter: 1.2 }], RangeError, "options.jitter must be a number from 0 to 1, got 1.2"],
      [door, [{ cap: 0 }], RangeError, "options.cap must be a number above 0, got 0"],
      [
        door,
        [{ capAfterJitter: "yes" }],
        TypeError,
        'options.capAfterJitter must be true or false, got "yes"',
      ],
      [door, [{ random: 0 }], TypeError, "options.random must be a function, got 0"],
    ],
  ),
  ["grpcBackoff", [-1], RangeError, "retries must be a whole number of at least 0, got -1"],
  ["grpcBackoff", [1.5], RangeError, "retries must be a whole number of at least 0, got 1.5"],
  ["grpcBackoff", ["1"], TypeError, 'retries must be a whole number of at least 0, got "1"'],
  ["grpcBackoff", [0, null], TypeError, "options must be an object, got null"],
  [
    "grpcBackoff",
    [0, { jitter: 2 }],
    RangeError,
    "options.jitter must be a number from 0 to 1, got 2",
  ],

  ["new BinaryExponentialBackoff", [], TypeError, "options must be an object, got undefined"],
  [
    "new BinaryExponentialBackoff",
    [{}],
    TypeError,
    "options.slotTime must be a finite number of at least 0, got undefined",
  ],
  [
    "new BinaryExponentialBackoff",
    [{ slotTime: 1, backoffLimit: -1 }],
    RangeError,
    "options.backoffLimit must be a whole number of at least 0, got -1",
  ],
  [
    "new BinaryExponentialBackoff",
    [{ slotTime: 1, attemptLimit: 0 }],
    RangeError,
    "options.attemptLimit must be a whole number of at least 1, got 0",
  ],
  [
    "new BinaryExponentialBackoff",
    [{ slotTime: 1, random: {} }],
    TypeError,
    "options.random must be a function, got [object Object]",
  ],
  ["expectedSlots", [-1], RangeError, "collisions must be a whole number of at least 0, got -1"],
  [
    "expectedSlots",
    [1, Number.NaN],
    RangeError,
    "backoffLimit must be a whole number of at least 0, got NaN",
  ],

  [
    "delayWithReset",
    [undefined, 1],
    TypeError,
    "clock must have a method monotonic(), got undefined",
  ],
  [
    "delayWithReset",
    [{ now: f }, 1],
    TypeError,
    "clock must have a method monotonic(), got [object Object]",
  ],
  [
    "delayWithReset",
    [clock],
    TypeError,
    "resetInterval must be a finite number of at least 0, got undefined",
  ],
  [
    "delayWithReset",
    [clock, -1],
    RangeError,
    "resetInterval must be a finite number of at least 0, got -1",
  ],
  [
    "delayWithReset",
    [clock, Number.NaN],
    RangeError,
    "resetInterval must be a finite number of at least 0, got NaN",
  ],
  [
    "delayWithReset",
    [clock, inf],
    RangeError,
    "resetInterval must be a finite number of at least 0, got Infinity",
  ],

  ["jitter", [], TypeError, "duration must be a finite number of at least 0, got undefined"],
  ["jitter", [-1, 1], RangeError, "duration must be a finite number of at least 0, got -1"],
  [
    "jitter",
    [Number.NaN, 1],
    RangeError,
    "duration must be a finite number of at least 0, got NaN",
  ],
  ["jitter", [inf, 1], RangeError, "duration must be a finite number of at least 0, got Infinity"],
  ["jitter", [1], TypeError, "maxFactor must be a finite number of at least 0, got undefined"],
  ["jitter", [1, -1], RangeError, "maxFactor must be a finite number of at least 0, got -1"],
  ["jitter", [1, inf], RangeError, "maxFactor must be a finite number of at least 0, got Infinity"],
  ["jitter", [1, 1, {}], TypeError, "random must be a function, got [object Object]"],

  ["seededRandom", [], TypeError, "seed must be a finite number, got undefined"],
  ["seededRandom", ["42"], TypeError, 'seed must be a finite number, got "42"'],
  ["seededRandom", [Number.NaN], RangeError, "seed must be a finite number, got NaN"],
  ["seededRandom", [inf], RangeError, "seed must be a finite number, got Infinity"],

  ["managerOf", [], TypeError, "strategy must have a method delayFunc(), got undefined"],
  ["managerOf", [f, clock], TypeError, "strategy must have a method delayFunc(), got function f"],
  ["managerOf", [strategy], TypeError, "clock must have a method monotonic(), got undefined"],
  [
    "managerOf",
    [strategy, {}],
    TypeError,
    "clock must have a method monotonic(), got [object Object]",
  ],
  [
    "managerOf",
    [strategy, { monotonic: f }],
    TypeError,
    "clock must have a method newTimer(), got [object Object]",
  ],

  ["new ExponentialBackoffManager", [], TypeError, "options must be an object, got undefined"],
  [
    "new ExponentialBackoffManager",
    [{ factor: 2, clock }],
    TypeError,
    "options.duration must be a finite number of at least 0, got undefined",
  ],
  [
    "new ExponentialBackoffManager",
    [{ duration: -1, factor: 2, clock }],
    RangeError,
    "options.duration must be a finite number of at least 0, got -1",
  ],
  [
    "new ExponentialBackoffManager",
    [{ duration, clock }],
    TypeError,
    "options.factor must be a finite number, got undefined",
  ],
  [
    "new ExponentialBackoffManager",
    [{ duration, factor: inf, clock }],
    RangeError,
    "options.factor must be a finite number, got Infinity",
  ],
  [
    "new ExponentialBackoffManager",
    [{ duration, factor: 0, clock }],
    RangeError,
    "options.factor must be a number above 0, got 0",
  ],
  [
    "new ExponentialBackoffManager",
    [{ duration, factor: 2, cap: 0, clock }],
    RangeError,
    "options.cap must be a number above 0, got 0",
  ],
  [
    "new ExponentialBackoffManager",
    [{ duration, factor: 2, jitter: -1, clock }],
    RangeError,
    "options.jitter must be a finite number of at least 0, got -1",
  ],
  [
    "new ExponentialBackoffManager",
    [{ duration, factor: 2, resetAfter: "1", clock }],
    TypeError,
    'options.resetAfter must be a number of at least 0, got "1"',
  ],
  [
    "new ExponentialBackoffManager",
    [{ duration, factor: 2, resetAfter: -1, clock }],
    RangeError,
    "options.resetAfter must be a number of at least 0, got -1",
  ],
  [
    "new ExponentialBackoffManager",
    [{ duration, factor: 2, resetAfter: Number.NaN, clock }],
    RangeError,
    "options.resetAfter must be a number of at least 0, got NaN",
  ],
  [
    "new ExponentialBackoffManager",
    [{ duration, factor: 2, random: 1, clock }],
    TypeError,
    "options.random must be a function, got 1",
  ],
  [
    "new ExponentialBackoffManager",
    [{ duration, factor: 2, clock: null }],
    TypeError,
    "options.clock must have a method monotonic(), got null",
  ],
  [
    "new ExponentialBackoffManager",
    [{ duration, factor: 2, clock: { monotonic: f } }],
    TypeError,
    "options.clock must have a method newTimer(), got [object Object]",
  ],

  ["new JitteredBackoffManager", [], TypeError, "options must be an object, got undefined"],
  [
    "new JitteredBackoffManager",
    [{ clock }],
    TypeError,
    "options.duration must be a finite number of at least 0, got undefined",
  ],
  [
    "new JitteredBackoffManager",
    [{ duration: inf, clock }],
    RangeError,
    "options.duration must be a finite number of at least 0, got Infinity",
  ],
  [
    "new JitteredBackoffManager",
    [{ duration, jitter: -30, clock }],
    RangeError,
    "options.jitter must be a finite number of at least 0, got -30",
  ],
  [
    "new JitteredBackoffManager",
    [{ duration, random: 1, clock }],
    TypeError,
    "options.random must be a function, got 1",
  ],
  [
    "new JitteredBackoffManager",
    [{ duration, clock: 1 }],
    TypeError,
    "options.clock must have a method monotonic(), got 1",
  ],
  [
    "new JitteredBackoffManager",
    [{ duration, clock: { monotonic: f } }],
    TypeError,
    "options.clock must have a method newTimer(), got [object Object]",
  ],
];

const rejected: readonly Row<keyof typeof promisingDoors>[] = [
  ["backoffUntil", [], TypeError, "f must be a function, got undefined"],
  [
    "backoffUntil",
    [signal, manager, true, signal],
    TypeError,
    "f must be a function, got [object AbortSignal]",
  ],
  [
    "backoffUntil",
    [f, undefined, true, signal],
    TypeError,
    "manager must have a method backoff(), got undefined",
  ],
  [
    "backoffUntil",
    [f, strategy, true, signal],
    TypeError,
    "manager must have a method backoff(), got [object Object]",
  ],
  ["backoffUntil", [f, manager, 1, signal], TypeError, "sliding must be true or false, got 1"],
  [
    "backoffUntil",
    [f, manager, undefined, signal],
    TypeError,
    "sliding must be true or false, got undefined",
  ],
  ["backoffUntil", [f, manager, true], TypeError, "signal must be an AbortSignal, got undefined"],
  ["backoffUntil", [f, manager, true, null], TypeError, "signal must be an AbortSignal, got null"],
  [
    "backoffUntil",
    [f, manager, true, { signal }],
    TypeError,
    "signal must be an AbortSignal, got [object Object]",
  ],
  [
    "backoffUntil",
    [f, manager, true, signal, null],
    TypeError,
    "options must be an object, got null",
  ],
  [
    "backoffUntil",
    [f, manager, true, signal, f],
    TypeError,
    "options must be an object, got function f",
  ],
  [
    "backoffUntil",
    [f, manager, true, signal, { onError: true }],
    TypeError,
    "options.onError must be a function, got true",
  ],
  [
    "backoffUntil",
    [f, manager, true, signal, { onError: null }],
    TypeError,
    "options.onError must be a function, got null",
  ],

  ...(["jitterUntil", "until", "nonSlidingUntil"] as const).flatMap(
    (door): readonly Row<typeof door>[] => [
      [door, [undefined, 1, signal, { clock }], TypeError, "f must be a function, got undefined"],
      [
        door,
        [f, undefined, signal, { clock }],
        TypeError,
        "period must be a finite number of at least 0, got undefined",
      ],
      [
        door,
        [f, signal, 1, { clock }],
        TypeError,
        "period must be a finite number of at least 0, got [object AbortSignal]",
      ],
      [
        door,
        [f, -1, signal, { clock }],
        RangeError,
        "period must be a finite number of at least 0, got -1",
      ],
      [
        door,
        [f, Number.NaN, signal, { clock }],
        RangeError,
        "period must be a finite number of at least 0, got NaN",
      ],
      [
        door,
        [f, inf, signal, { clock }],
        RangeError,
        "period must be a finite number of at least 0, got Infinity",
      ],
      [
        door,
        [f, 1, undefined, { clock }],
        TypeError,
        "signal must be an AbortSignal, got undefined",
      ],
      [door, [f, 1, signal, null], TypeError, "options must be an object, got null"],
      [door, [f, 1, signal, 5], TypeError, "options must be an object, got 5"],
      [
        door,
        [f, 1, signal, { clock: {} }],
        TypeError,
        "options.clock must have a method monotonic(), got [object Object]",
      ],
      [
        door,
        [f, 1, signal, { clock, onError: "log" }],
        TypeError,
        'options.onError must be a function, got "log"',
      ],
    ],
  ),
  [
    "jitterUntil",
    [f, 1, signal, { clock, jitter: -30 }],
    RangeError,
    "options.jitter must be a finite number of at least 0, got -30",
  ],
  [
    "jitterUntil",
    [f, 1, signal, { clock, random: 0 }],
    TypeError,
    "options.random must be a function, got 0",
  ],
  [
    "jitterUntil",
    [f, 1, signal, { clock, sliding: "no" }],
    TypeError,
    'options.sliding must be true or false, got "no"',
  ],

  ["forever", [undefined, 1, { clock }], TypeError, "f must be a function, got undefined"],
  [
    "forever",
    [f, -1, { clock }],
    RangeError,
    "period must be a finite number of at least 0, got -1",
  ],
  ["forever", [f, 1, null], TypeError, "options must be an object, got null"],
  [
    "forever",
    [f, 1, { clock: {} }],
    TypeError,
    "options.clock must have a method monotonic(), got [object Object]",
  ],
  [
    "forever",
    [f, 1, { clock, onError: 1 }],
    TypeError,
    "options.onError must be a function, got 1",
  ],

  ["connectWithBackoff", [], TypeError, "connect must be a function, got undefined"],
  ["keepConnected", [], TypeError, "connect must be a function, got undefined"],
  [
    "keepConnected",
    [f, undefined, { signal, clock }],
    TypeError,
    "use must be a function, got undefined",
  ],
  [
    "keepConnected (options)",
    [{ signal, clock, onError: 1 }],
    TypeError,
    "options.onError must be a function, got 1",
  ],
  ...(["connectWithBackoff (options)", "keepConnected (options)"] as const).flatMap(
    (door): readonly Row<typeof door>[] => [
      [door, [], TypeError, "options must be an object, got undefined"],
      [door, [{ clock }], TypeError, "options.signal must be an AbortSignal, got undefined"],
      [
        door,
        [{ signal, clock, backoff: 100 }],
        TypeError,
        "options.backoff must be an object, got 100",
      ],
      [
        door,
        [{ signal, clock, backoff: { factor: 2 } }],
        TypeError,
        "options.duration must be a finite number of at least 0, got undefined",
      ],
      [
        door,
        [{ signal, clock, minConnectTimeout: -1 }],
        RangeError,
        "options.minConnectTimeout must be a number of at least 0, got -1",
      ],
      [
        door,
        [{ signal, clock, minConnectTimeout: Number.NaN }],
        RangeError,
        "options.minConnectTimeout must be a number of at least 0, got NaN",
      ],
      [
        door,
        [{ signal, clock, minConnectTimeout: "20s" }],
        TypeError,
        'options.minConnectTimeout must be a number of at least 0, got "20s"',
      ],
      [
        door,
        [{ signal, clock: {} }],
        TypeError,
        "options.clock must have a method afterFunc(), got [object Object]",
      ],
      [
        door,
        [{ signal, clock: { afterFunc: f } }],
        TypeError,
        "options.clock must have a method monotonic(), got [object Object]",
      ],
      [
        door,
        [{ signal, clock, onRetry: "log" }],
        TypeError,
        'options.onRetry must be a function, got "log"',
      ],
      [
        door,
        [{ signal, clock, onLate: null }],
        TypeError,
        "options.onLate must be a function, got null",
      ],
    ],
  ),
];

function expectNothingArmed(): void {
  expect([clock.waiters(), abortListeners(signal)]).toEqual([0, 0]);
}

const titled = <Door>(rows: readonly Row<Door>[]) =>
  rows.map((row) => [`${row[0]}: ${row[3]}`, row] as const);

describe("bad arguments are thrown back", () => {
  it.each(titled(thrown))("%s", (_title, [door, args, error, message]) => {
    const call = () => doors[door](...args);
    expect(call).toThrow(error);
    expect(call).toThrow(new error(message));
    expectNothingArmed();
  });
});

describe("bad arguments reject the promise", () => {
  it.each(titled(rejected))("%s", async (_title, [door, args, error, message]) => {
    const promise = promisingDoors[door](...args);
    expect(promise).toBeInstanceOf(Promise);
    const reason = await (promise as Promise<unknown>).catch((thrownBack: unknown) => thrownBack);
    expect(reason).toBeInstanceOf(error);
    expect(reason).toEqual(new error(message));
    expectNothingArmed();
  });
});
