import { FakeClock } from "@holdfast/clock/testing";
import {
  Backoff,
  backoffManager,
  backoffUntil,
  connectWithBackoff,
  ExponentialBackoffManager,
  every,
  JitteredBackoffManager,
  jitter,
  keepConnected,
  parseRetryAfter,
  poll,
  retry,
  seededRandom,
} from "@holdfast/wait";
import {
  delayUntil,
  exponentialBackoff,
  forever,
  Group,
  jitterUntil,
  KeyedBackoff,
  nonSlidingUntil,
  onError,
  pollUntil,
  retryOnConflict,
  until,
} from "@holdfast/wait/go";
import {
  AttemptBackoff,
  BinaryExponentialBackoff,
  ConstantBackoff,
  DecorrelatedJitterBackoff,
  EqualJitterBackoff,
  expectedSlots,
  FibonacciBackoff,
  FullJitterBackoff,
  GrpcBackoff,
  grpcBackoff,
  LinearBackoff,
  SymmetricJitterBackoff,
} from "@holdfast/wait/strategies";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";

const clock = new FakeClock();
const { signal } = new AbortController();
const f = () => {
  throw new Error("a call with bad arguments must not get this far");
};
const manager = backoffManager({ delayFunc: () => () => 1 }, { clock });
const strategy = { delayFunc: () => () => 1 };

const construct =
  (door: new (...args: never[]) => object) =>
  (...args: readonly unknown[]) =>
    Reflect.construct(door, args) as object;

const apply =
  (door: (...args: never[]) => unknown) =>
  (...args: readonly unknown[]) =>
    Reflect.apply(door, undefined, args) as unknown;

const keyed =
  (method: "next" | "isInBackoffSince" | "isInBackoffSinceUpdate") =>
  (...args: readonly unknown[]) =>
    Reflect.apply(
      KeyedBackoff.prototype[method],
      new KeyedBackoff({ duration: 1, cap: 1, clock }),
      args,
    ) as unknown;

const group = new Group();

const doors = {
  "new Backoff": construct(Backoff),
  delayWithReset: (...args: readonly unknown[]) =>
    Reflect.apply(Backoff.prototype.delayWithReset, new Backoff({ duration: 1 }), args) as unknown,
  "new AttemptBackoff": construct(AttemptBackoff),
  forAttempt: (...args: readonly unknown[]) =>
    Reflect.apply(AttemptBackoff.prototype.forAttempt, new AttemptBackoff(), args) as unknown,
  "new ConstantBackoff": construct(ConstantBackoff),
  "new FibonacciBackoff": construct(FibonacciBackoff),
  "new LinearBackoff": construct(LinearBackoff),
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
  parseRetryAfter: apply(parseRetryAfter),
  every: apply(every),
  backoffManager: apply(backoffManager),
  "new ExponentialBackoffManager": construct(ExponentialBackoffManager),
  "new JitteredBackoffManager": construct(JitteredBackoffManager),
  "new KeyedBackoff": construct(KeyedBackoff),
  next: keyed("next"),
  isInBackoffSince: keyed("isInBackoffSince"),
  isInBackoffSinceUpdate: keyed("isInBackoffSinceUpdate"),
  start: (...args: readonly unknown[]) => Reflect.apply(group.start, group, args) as unknown,
  startWithSignal: (...args: readonly unknown[]) =>
    Reflect.apply(group.startWithSignal, group, args) as unknown,
};

const promisingDoors = {
  retry: apply(retry),
  poll: apply(poll),
  backoffUntil: apply(backoffUntil),
  jitterUntil: apply(jitterUntil),
  until: apply(until),
  nonSlidingUntil: apply(nonSlidingUntil),
  forever: apply(forever),
  pollUntil: apply(pollUntil),
  delayUntil: apply(delayUntil),
  exponentialBackoff: apply(exponentialBackoff),
  onError: apply(onError),
  retryOnConflict: apply(retryOnConflict),
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
    "options.factor must be a finite number above 0, got null",
  ],
  [
    "new Backoff",
    [{ duration, factor: 0 }],
    RangeError,
    "options.factor must be a finite number above 0, got 0",
  ],
  [
    "new Backoff",
    [{ duration, factor: -2 }],
    RangeError,
    "options.factor must be a finite number above 0, got -2",
  ],
  [
    "new Backoff",
    [{ duration, factor: Number.NaN }],
    RangeError,
    "options.factor must be a finite number above 0, got NaN",
  ],
  [
    "new Backoff",
    [{ duration, factor: inf }],
    RangeError,
    "options.factor must be a finite number above 0, got Infinity",
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
        "options.factor must be a finite number above 0, got 0",
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
      [door, [{ factor: 0 }], RangeError, "options.factor must be a finite number above 0, got 0"],
      [
        door,
        [{ factor: inf }],
        RangeError,
        "options.factor must be a finite number above 0, got Infinity",
      ],
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

  ["new AttemptBackoff", [null], TypeError, "options must be an object, got null"],
  [
    "new AttemptBackoff",
    [{ duration: -1 }],
    RangeError,
    "options.duration must be a finite number of at least 0, got -1",
  ],
  [
    "new AttemptBackoff",
    [{ factor: 0 }],
    RangeError,
    "options.factor must be a finite number above 0, got 0",
  ],
  [
    "new AttemptBackoff",
    [{ factor: inf }],
    RangeError,
    "options.factor must be a finite number above 0, got Infinity",
  ],
  ["new AttemptBackoff", [{ cap: 0 }], RangeError, "options.cap must be a number above 0, got 0"],
  [
    "new AttemptBackoff",
    [{ spread: 0.5 }],
    TypeError,
    "options.spread must be true or false, got 0.5",
  ],
  ["new AttemptBackoff", [{ random: 1 }], TypeError, "options.random must be a function, got 1"],
  ["forAttempt", [-1], RangeError, "attempt must be a whole number of at least 0, got -1"],
  ["forAttempt", [2.5], RangeError, "attempt must be a whole number of at least 0, got 2.5"],
  ["forAttempt", [], TypeError, "attempt must be a whole number of at least 0, got undefined"],

  ...(["new ConstantBackoff", "new FibonacciBackoff", "new LinearBackoff"] as const).flatMap(
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
        [{ duration, jitter: -1 }],
        RangeError,
        "options.jitter must be a finite number of at least 0, got -1",
      ],
      [door, [{ duration, random: 1 }], TypeError, "options.random must be a function, got 1"],
    ],
  ),
  ...(["new FibonacciBackoff", "new LinearBackoff"] as const).flatMap(
    (door): readonly Row<typeof door>[] => [
      [door, [{ duration, cap: 0 }], RangeError, "options.cap must be a number above 0, got 0"],
      [
        door,
        [{ duration, capAfterJitter: 1 }],
        TypeError,
        "options.capAfterJitter must be true or false, got 1",
      ],
    ],
  ),
  [
    "new LinearBackoff",
    [{ duration, increment: -1 }],
    RangeError,
    "options.increment must be a finite number of at least 0, got -1",
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

  ["every", [], TypeError, "period must be a finite number above 0, got undefined"],
  ["every", ["1s"], TypeError, 'period must be a finite number above 0, got "1s"'],
  ["every", [0], RangeError, "period must be a finite number above 0, got 0"],
  ["every", [-1], RangeError, "period must be a finite number above 0, got -1"],
  ["every", [Number.NaN], RangeError, "period must be a finite number above 0, got NaN"],
  ["every", [inf], RangeError, "period must be a finite number above 0, got Infinity"],
  ["every", [1, null], TypeError, "options must be an object, got null"],
  [
    "every",
    [1, { clock: {} }],
    TypeError,
    "options.clock must have a method monotonic(), got [object Object]",
  ],
  [
    "every",
    [1, { clock: { monotonic: f } }],
    TypeError,
    "options.clock must have a method newTimer(), got [object Object]",
  ],
  [
    "every",
    [1, { clock, signal: null }],
    TypeError,
    "options.signal must be an AbortSignal, got null",
  ],
  [
    "every",
    [1, { clock, immediate: 1 }],
    TypeError,
    "options.immediate must be true or false, got 1",
  ],
  [
    "every",
    [1, { clock, sliding: "no" }],
    TypeError,
    'options.sliding must be true or false, got "no"',
  ],
  [
    "every",
    [1, { clock, jitter: -1, sliding: true }],
    RangeError,
    "options.jitter must be a finite number of at least 0, got -1",
  ],
  [
    "every",
    [1, { clock, random: 1, sliding: true }],
    TypeError,
    "options.random must be a function, got 1",
  ],
  [
    "every",
    [1, { clock, jitter: -1, sliding: false }],
    RangeError,
    "options.jitter must be a finite number of at least 0, got -1",
  ],
  [
    "every",
    [1, { clock, random: 1, sliding: false }],
    TypeError,
    "options.random must be a function, got 1",
  ],

  ["parseRetryAfter", ["1", {}], TypeError, "clock must have a method now(), got [object Object]"],

  ["backoffManager", [], TypeError, "strategy must have a method delayFunc(), got undefined"],
  [
    "backoffManager",
    [f, clock],
    TypeError,
    "strategy must have a method delayFunc(), got function f",
  ],
  ["backoffManager", [strategy, null], TypeError, "options must be an object, got null"],
  [
    "backoffManager",
    [strategy, { clock: {} }],
    TypeError,
    "options.clock must have a method monotonic(), got [object Object]",
  ],
  [
    "backoffManager",
    [strategy, { clock: { monotonic: f } }],
    TypeError,
    "options.clock must have a method newTimer(), got [object Object]",
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
    "options.factor must be a finite number above 0, got undefined",
  ],
  [
    "new ExponentialBackoffManager",
    [{ duration, factor: inf, clock }],
    RangeError,
    "options.factor must be a finite number above 0, got Infinity",
  ],
  [
    "new ExponentialBackoffManager",
    [{ duration, factor: 0, clock }],
    RangeError,
    "options.factor must be a finite number above 0, got 0",
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
  ["new KeyedBackoff", [], TypeError, "options must be an object, got undefined"],
  [
    "new KeyedBackoff",
    [{ cap: 1 }],
    TypeError,
    "options.duration must be a finite number of at least 0, got undefined",
  ],
  [
    "new KeyedBackoff",
    [{ duration: -1, cap: 1 }],
    RangeError,
    "options.duration must be a finite number of at least 0, got -1",
  ],
  [
    "new KeyedBackoff",
    [{ duration }],
    TypeError,
    "options.cap must be a finite number above 0, got undefined",
  ],
  [
    "new KeyedBackoff",
    [{ duration, cap: 0 }],
    RangeError,
    "options.cap must be a finite number above 0, got 0",
  ],
  [
    "new KeyedBackoff",
    [{ duration, cap: inf }],
    RangeError,
    "options.cap must be a finite number above 0, got Infinity",
  ],
  [
    "new KeyedBackoff",
    [{ duration, cap: 1, jitter: -1 }],
    RangeError,
    "options.jitter must be a finite number of at least 0, got -1",
  ],
  [
    "new KeyedBackoff",
    [{ duration, cap: 1, resetAfter: -1 }],
    RangeError,
    "options.resetAfter must be a number of at least 0, got -1",
  ],
  [
    "new KeyedBackoff",
    [{ duration, cap: 1, clock: {} }],
    TypeError,
    "options.clock must have a method monotonic(), got [object Object]",
  ],
  [
    "new KeyedBackoff",
    [{ duration, cap: 1, random: 0.5 }],
    TypeError,
    "options.random must be a function, got 0.5",
  ],
  ...(["next", "isInBackoffSince", "isInBackoffSinceUpdate"] as const).flatMap(
    (door): Row<keyof typeof doors>[] => [
      [door, ["a", "now"], TypeError, 'at must be an instant in milliseconds, got "now"'],
      [door, ["a", Number.NaN], RangeError, "at must be an instant in milliseconds, got NaN"],
    ],
  ),
  ["start", [], TypeError, "fn must be a function, got undefined"],
  ["startWithSignal", [f], TypeError, "signal must be an AbortSignal, got undefined"],
  ["startWithSignal", [signal, f], TypeError, "fn must be a function, got [object AbortSignal]"],
];

const rejected: readonly Row<keyof typeof promisingDoors>[] = [
  ["poll", [], TypeError, "fn must be a function, got undefined"],
  ["poll", [f, null], TypeError, "options must be an object, got null"],
  [
    "poll",
    [f, { clock, signal: {} }],
    TypeError,
    "options.signal must be an AbortSignal, got [object Object]",
  ],
  [
    "poll",
    [f, { signal, clock: {} }],
    TypeError,
    "options.clock must have a method monotonic(), got [object Object]",
  ],
  [
    "poll",
    [f, { signal, clock: { monotonic: f, newTimer: f } }],
    TypeError,
    "options.clock must have a method afterFunc(), got [object Object]",
  ],
  [
    "poll",
    [f, { clock, signal, backoff: 100 }],
    TypeError,
    "options.backoff must be an object, got 100",
  ],
  [
    "poll",
    [f, { clock, signal, backoff: { duration: -1 } }],
    RangeError,
    "options.backoff.duration must be a finite number of at least 0, got -1",
  ],
  [
    "poll",
    [f, { clock, signal, timeout: "1s" }],
    TypeError,
    'options.timeout must be a number above 0, got "1s"',
  ],
  [
    "poll",
    [f, { clock, signal, timeout: 0 }],
    RangeError,
    "options.timeout must be a number above 0, got 0",
  ],
  [
    "poll",
    [f, { clock, signal, timeout: -1 }],
    RangeError,
    "options.timeout must be a number above 0, got -1",
  ],
  [
    "poll",
    [f, { clock, signal, timeout: Number.NaN }],
    RangeError,
    "options.timeout must be a number above 0, got NaN",
  ],
  [
    "poll",
    [f, { clock, signal, onError: true }],
    TypeError,
    "options.onError must be a function, got true",
  ],

  ["retry", [], TypeError, "fn must be a function, got undefined"],
  ["retry", [f, null], TypeError, "options must be an object, got null"],
  ["retry", [f, 5], TypeError, "options must be an object, got 5"],
  [
    "retry",
    [f, { clock, signal: null }],
    TypeError,
    "options.signal must be an AbortSignal, got null",
  ],
  [
    "retry",
    [f, { clock, signal: {} }],
    TypeError,
    "options.signal must be an AbortSignal, got [object Object]",
  ],
  [
    "retry",
    [f, { signal, clock: {} }],
    TypeError,
    "options.clock must have a method monotonic(), got [object Object]",
  ],
  [
    "retry",
    [f, { signal, clock: { monotonic: f } }],
    TypeError,
    "options.clock must have a method newTimer(), got [object Object]",
  ],
  [
    "retry",
    [f, { signal, clock: { monotonic: f, newTimer: f } }],
    TypeError,
    "options.clock must have a method afterFunc(), got [object Object]",
  ],
  [
    "retry",
    [f, { clock, signal, backoff: 100 }],
    TypeError,
    "options.backoff must be an object, got 100",
  ],
  [
    "retry",
    [f, { clock, signal, backoff: { delayFunc: 1 } }],
    TypeError,
    "options.backoff must have a method delayFunc(), got [object Object]",
  ],
  [
    "retry",
    [f, { clock, signal, backoff: {} }],
    TypeError,
    "options.backoff.duration must be a finite number of at least 0, got undefined",
  ],
  [
    "retry",
    [f, { clock, signal, backoff: { duration, factor: 0 } }],
    RangeError,
    "options.backoff.factor must be a finite number above 0, got 0",
  ],
  [
    "retry",
    [f, { clock, signal, backoff: { duration, jitter: -1 } }],
    RangeError,
    "options.backoff.jitter must be a finite number of at least 0, got -1",
  ],
  [
    "retry",
    [f, { clock, signal, backoff: { duration, steps: 1.5 } }],
    RangeError,
    "options.backoff.steps must be a whole number of at least 0, got 1.5",
  ],
  [
    "retry",
    [f, { clock, signal, backoff: { duration, cap: 0 } }],
    RangeError,
    "options.backoff.cap must be a number above 0, got 0",
  ],
  [
    "retry",
    [f, { clock, signal, backoff: { duration, capAfterJitter: 1 } }],
    TypeError,
    "options.backoff.capAfterJitter must be true or false, got 1",
  ],
  [
    "retry",
    [f, { clock, signal, backoff: { duration, random: 1 } }],
    TypeError,
    "options.backoff.random must be a function, got 1",
  ],
  [
    "retry",
    [f, { clock, signal, retries: "3" }],
    TypeError,
    'options.retries must be a whole number of at least 0, got "3"',
  ],
  [
    "retry",
    [f, { clock, signal, retries: -1 }],
    RangeError,
    "options.retries must be a whole number of at least 0, got -1",
  ],
  [
    "retry",
    [f, { clock, signal, retries: 1.5 }],
    RangeError,
    "options.retries must be a whole number of at least 0, got 1.5",
  ],
  [
    "retry",
    [f, { clock, signal, retries: Number.NaN }],
    RangeError,
    "options.retries must be a whole number of at least 0, got NaN",
  ],
  [
    "retry",
    [f, { clock, signal, maxElapsed: null }],
    TypeError,
    "options.maxElapsed must be a number of at least 0, got null",
  ],
  [
    "retry",
    [f, { clock, signal, maxElapsed: -1 }],
    RangeError,
    "options.maxElapsed must be a number of at least 0, got -1",
  ],
  [
    "retry",
    [f, { clock, signal, maxElapsed: Number.NaN }],
    RangeError,
    "options.maxElapsed must be a number of at least 0, got NaN",
  ],
  [
    "retry",
    [f, { clock, signal, attemptTimeout: "1s" }],
    TypeError,
    'options.attemptTimeout must be a number above 0, got "1s"',
  ],
  [
    "retry",
    [f, { clock, signal, attemptTimeout: 0 }],
    RangeError,
    "options.attemptTimeout must be a number above 0, got 0",
  ],
  [
    "retry",
    [f, { clock, signal, attemptTimeout: -1 }],
    RangeError,
    "options.attemptTimeout must be a number above 0, got -1",
  ],
  [
    "retry",
    [f, { clock, signal, attemptTimeout: Number.NaN }],
    RangeError,
    "options.attemptTimeout must be a number above 0, got NaN",
  ],
  [
    "retry",
    [f, { clock, signal, shouldRetry: true }],
    TypeError,
    "options.shouldRetry must be a function, got true",
  ],
  [
    "retry",
    [f, { clock, signal, delay: true }],
    TypeError,
    "options.delay must be a function, got true",
  ],
  [
    "retry",
    [f, { clock, signal, onRetry: true }],
    TypeError,
    "options.onRetry must be a function, got true",
  ],
  [
    "retry",
    [f, { clock, signal, delay: 1_000 }],
    TypeError,
    "options.delay must be a function, got 1000",
  ],

  ["backoffUntil", [], TypeError, "fn must be a function, got undefined"],
  [
    "backoffUntil",
    [signal, manager, true, signal],
    TypeError,
    "fn must be a function, got [object AbortSignal]",
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
      [door, [undefined, 1, signal, { clock }], TypeError, "fn must be a function, got undefined"],
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

  ["forever", [undefined, 1, { clock }], TypeError, "fn must be a function, got undefined"],
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

  ...(["pollUntil", "delayUntil"] as const).flatMap((door): Row<keyof typeof promisingDoors>[] => {
    const args = (condition: unknown, options: unknown) =>
      door === "pollUntil" ? [condition, 1, options] : [() => 1, condition, options];
    return [
      [door, args(undefined, { clock }), TypeError, "condition must be a function, got undefined"],
      [door, args(f, null), TypeError, "options must be an object, got null"],
      [
        door,
        args(f, { clock, signal: {} }),
        TypeError,
        "options.signal must be an AbortSignal, got [object Object]",
      ],
      [
        door,
        args(f, { clock, onError: 1 }),
        TypeError,
        "options.onError must be a function, got 1",
      ],
      [
        door,
        args(f, { clock, immediate: 1 }),
        TypeError,
        "options.immediate must be true or false, got 1",
      ],
      [
        door,
        args(f, { clock, sliding: "no" }),
        TypeError,
        'options.sliding must be true or false, got "no"',
      ],
      [
        door,
        args(f, { clock, timeout: -1 }),
        RangeError,
        "options.timeout must be a number of at least 0, got -1",
      ],
      [
        door,
        args(f, { clock, timeout: Number.NaN, signal }),
        RangeError,
        "options.timeout must be a number of at least 0, got NaN",
      ],
      [
        door,
        args(f, { clock: {}, signal }),
        TypeError,
        "options.clock must have a method monotonic(), got [object Object]",
      ],
    ];
  }),
  [
    "pollUntil",
    [f, undefined, { clock }],
    TypeError,
    "interval must be a finite number of at least 0, got undefined",
  ],
  [
    "pollUntil",
    [f, -1, { clock }],
    RangeError,
    "interval must be a finite number of at least 0, got -1",
  ],
  [
    "pollUntil",
    [f, inf, { clock }],
    RangeError,
    "interval must be a finite number of at least 0, got Infinity",
  ],
  [
    "delayUntil",
    [new Backoff({ duration: 1 }), f, { clock }],
    TypeError,
    "delayFunc must be a function, got [object Object]",
  ],

  ["exponentialBackoff", [f], TypeError, "options must be an object, got undefined"],
  [
    "exponentialBackoff",
    [undefined, { backoff: { duration } }],
    TypeError,
    "condition must be a function, got undefined",
  ],
  [
    "exponentialBackoff",
    [f, { clock }],
    TypeError,
    "options.backoff must be an object, got undefined",
  ],
  [
    "exponentialBackoff",
    [f, { backoff: new Backoff({ duration }), clock }],
    TypeError,
    "options.backoff must be the options of a Backoff, got a strategy",
  ],
  [
    "exponentialBackoff",
    [f, { backoff: { duration, steps: -1 }, clock }],
    RangeError,
    "options.backoff.steps must be a whole number of at least 0, got -1",
  ],
  [
    "exponentialBackoff",
    [f, { backoff: { duration }, clock: {} }],
    TypeError,
    "options.clock must have a method monotonic(), got [object Object]",
  ],
  [
    "exponentialBackoff",
    [f, { backoff: { duration }, signal: 1 }],
    TypeError,
    "options.signal must be an AbortSignal, got 1",
  ],
  [
    "exponentialBackoff",
    [f, { backoff: { duration }, onError: 1 }],
    TypeError,
    "options.onError must be a function, got 1",
  ],

  ["onError", [{ duration }], TypeError, "retriable must be a function, got undefined"],
  ["onError", [{ duration }, Boolean], TypeError, "fn must be a function, got undefined"],
  ["onError", [{ duration }, Boolean, f, 1], TypeError, "options must be an object, got 1"],
  [
    "onError",
    [undefined, Boolean, f],
    TypeError,
    "options.backoff must be an object, got undefined",
  ],
  ["retryOnConflict", [{ duration }], TypeError, "fn must be a function, got undefined"],
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
        "options.backoff.duration must be a finite number of at least 0, got undefined",
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
        [{ signal, clock: { monotonic: f, newTimer: f } }],
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
