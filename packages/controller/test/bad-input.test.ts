import { FakeClock } from "@holdfast/clock/testing";
import {
  ExponentialLimiter,
  FastSlowLimiter,
  Manager,
  MaxOfLimiter,
  TokenBucketLimiter,
  WorkQueue,
} from "@holdfast/controller";
import { describe, expect, it } from "vitest";

const clock = new FakeClock();
const queue = new WorkQueue({ clock });
const manager = new Manager({ clock, groups: [{ name: "a" }, { name: "b" }] });
const idle = { name: "idle", run: () => Promise.resolve() };
manager.add(idle);

const construct =
  (door: new (...args: never[]) => object) =>
  (...args: readonly unknown[]) =>
    Reflect.construct(door, args) as object;

const apply =
  (door: (...args: never[]) => unknown, subject: object = queue) =>
  (...args: readonly unknown[]) =>
    Reflect.apply(door, subject, args) as unknown;

const bucket = { qps: 1, burst: 1 };
const tokenBucket = new TokenBucketLimiter({ ...bucket, clock });
const exponential = new ExponentialLimiter({ clock });
const fastSlow = { fast: 1, slow: 2, maxFast: 3 };
const fastSlowLimiter = new FastSlowLimiter({ ...fastSlow, clock });
const maxOf = new MaxOfLimiter([exponential], { clock });

const doors = {
  "new WorkQueue": construct(WorkQueue),
  add: apply(queue.add),
  retry: apply(queue.retry),
  get: apply(queue.get),
  idle: apply(queue.idle),
  drain: apply(queue.drain),
  "new ExponentialLimiter": construct(ExponentialLimiter),
  "new FastSlowLimiter": construct(FastSlowLimiter),
  "new TokenBucketLimiter": construct(TokenBucketLimiter),
  "new MaxOfLimiter": construct(MaxOfLimiter),
  acquire: apply(tokenBucket.acquire, tokenBucket),
  "exponential.when": apply(exponential.when, exponential),
  "fastSlow.when": apply(fastSlowLimiter.when, fastSlowLimiter),
  "tokenBucket.when": apply(tokenBucket.when, tokenBucket),
  "maxOf.when": apply(maxOf.when, maxOf),
  "new Manager": construct(Manager),
  "manager.add": apply(manager.add, manager),
  "manager.run": apply(manager.run, manager),
};

/** What comes out, thrown or rejected. */
async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("a bad argument is refused at the door, with its name, its value and what is allowed", () => {
  it.each<{ door: keyof typeof doors; args: readonly unknown[]; error: Error }>([
    {
      door: "new WorkQueue",
      args: [null],
      error: new TypeError("options must be an object, got null"),
    },
    {
      door: "new WorkQueue",
      args: [{ keyOf: "id" }],
      error: new TypeError('options.keyOf must be a function, got "id"'),
    },
    {
      door: "new WorkQueue",
      args: [{ clock: {} }],
      error: new TypeError("options.clock must have a method monotonic(), got [object Object]"),
    },
    {
      door: "new WorkQueue",
      args: [{ limiter: {} }],
      error: new TypeError("options.limiter must have a method when(), got [object Object]"),
    },
    {
      door: "new WorkQueue",
      args: [{ metrics: {} }],
      error: new TypeError("options.metrics must have a method depth(), got [object Object]"),
    },
    {
      door: "new WorkQueue",
      args: [{ aging: 0 }],
      error: new RangeError("options.aging must be a number above 0, got 0"),
    },
    {
      door: "add",
      args: [1],
      error: new TypeError("the key of an item must be a string, got 1"),
    },
    {
      door: "add",
      args: ["a", 5],
      error: new TypeError("options must be an object, got 5"),
    },
    {
      door: "add",
      args: ["a", { after: Number.NaN }],
      error: new RangeError("options.after must be a number of milliseconds, got NaN"),
    },
    {
      door: "add",
      args: ["a", { priority: Number.POSITIVE_INFINITY }],
      error: new RangeError("options.priority must be a finite number, got Infinity"),
    },
    {
      door: "retry",
      args: ["a", { priority: "high" }],
      error: new TypeError('options.priority must be a finite number, got "high"'),
    },
    {
      door: "retry",
      args: ["a", null],
      error: new TypeError("options must be an object, got null"),
    },
    {
      door: "get",
      args: [{}],
      error: new TypeError("signal must be an AbortSignal, got [object Object]"),
    },
    {
      door: "idle",
      args: [1],
      error: new TypeError("signal must be an AbortSignal, got 1"),
    },
    {
      door: "drain",
      args: [{ timeout: -1 }],
      error: new RangeError("options.timeout must be a number of at least 0, got -1"),
    },
    {
      door: "drain",
      args: [{ signal: 1 }],
      error: new TypeError("options.signal must be an AbortSignal, got 1"),
    },
    {
      door: "drain",
      args: [null],
      error: new TypeError("options must be an object, got null"),
    },
    {
      door: "new ExponentialLimiter",
      args: [{ duration: -1 }],
      error: new RangeError("options.duration must be a finite number of at least 0, got -1"),
    },
    {
      door: "new ExponentialLimiter",
      args: [{ factor: 0.5 }],
      error: new RangeError("options.factor must be a finite number of at least 1, got 0.5"),
    },
    {
      door: "new ExponentialLimiter",
      args: [{ cap: 0 }],
      error: new RangeError("options.cap must be a number above 0, got 0"),
    },
    {
      door: "new ExponentialLimiter",
      args: [{ jitter: Number.NaN }],
      error: new RangeError("options.jitter must be a finite number of at least 0, got NaN"),
    },
    {
      door: "new ExponentialLimiter",
      args: [{ expireAfter: -1 }],
      error: new RangeError("options.expireAfter must be a number of at least 0, got -1"),
    },
    {
      door: "new ExponentialLimiter",
      args: [{ clock: 1 }],
      error: new TypeError("options.clock must have a method monotonic(), got 1"),
    },
    {
      door: "new ExponentialLimiter",
      args: [{ random: 0.5 }],
      error: new TypeError("options.random must be a function, got 0.5"),
    },
    {
      door: "new FastSlowLimiter",
      args: [{ ...fastSlow, fast: -1 }],
      error: new RangeError("options.fast must be a finite number of at least 0, got -1"),
    },
    {
      door: "new FastSlowLimiter",
      args: [{ ...fastSlow, slow: Number.POSITIVE_INFINITY }],
      error: new RangeError("options.slow must be a finite number of at least 0, got Infinity"),
    },
    {
      door: "new FastSlowLimiter",
      args: [{ ...fastSlow, maxFast: 1.5 }],
      error: new RangeError("options.maxFast must be a whole number of at least 0, got 1.5"),
    },
    {
      door: "new TokenBucketLimiter",
      args: [{ ...bucket, qps: 0 }],
      error: new RangeError("options.qps must be a number above 0, got 0"),
    },
    {
      door: "new TokenBucketLimiter",
      args: [{ ...bucket, burst: 0 }],
      error: new RangeError("options.burst must be a whole number of at least 1, got 0"),
    },
    {
      door: "new TokenBucketLimiter",
      args: [{ ...bucket, cap: -1 }],
      error: new RangeError("options.cap must be a number above 0, got -1"),
    },
    {
      door: "new TokenBucketLimiter",
      args: [{ ...bucket, expireAfter: -1 }],
      error: new RangeError("options.expireAfter must be a number of at least 0, got -1"),
    },
    {
      door: "acquire",
      args: ["a"],
      error: new TypeError('signal must be an AbortSignal, got "a"'),
    },
    ...(["exponential", "fastSlow", "tokenBucket", "maxOf"] as const).map((door) => ({
      door: `${door}.when` as const,
      args: ["a", Number.NaN],
      error: new RangeError("after must be a number of milliseconds, got NaN"),
    })),
    {
      door: "new MaxOfLimiter",
      args: [new ExponentialLimiter()],
      error: new TypeError("limiters must be an array, got [object Object]"),
    },
    {
      door: "new MaxOfLimiter",
      args: [[]],
      error: new RangeError("limiters must have at least one limiter"),
    },
    {
      door: "new MaxOfLimiter",
      args: [[new ExponentialLimiter(), {}]],
      error: new TypeError("limiters[1] must have a method when(), got [object Object]"),
    },
    {
      door: "new MaxOfLimiter",
      args: [[new ExponentialLimiter()], { jitter: -1 }],
      error: new RangeError("options.jitter must be a finite number of at least 0, got -1"),
    },
    {
      door: "new MaxOfLimiter",
      args: [[new ExponentialLimiter()], { random: 1 }],
      error: new TypeError("options.random must be a function, got 1"),
    },
    {
      door: "new Manager",
      args: [null],
      error: new TypeError("options must be an object, got null"),
    },
    {
      door: "new Manager",
      args: [{ groups: [] }],
      error: new RangeError("options.groups must have at least one group, got none"),
    },
    {
      door: "new Manager",
      args: [{ groups: "workers" }],
      error: new TypeError('options.groups must be an array, got "workers"'),
    },
    {
      door: "new Manager",
      args: [{ groups: [null] }],
      error: new TypeError("options.groups[0] must be an object, got null"),
    },
    {
      door: "new Manager",
      args: [{ groups: [{ name: "" }] }],
      error: new RangeError('options.groups[0].name must be a string that is not empty, got ""'),
    },
    {
      door: "new Manager",
      args: [{ groups: [{ name: 1 }] }],
      error: new TypeError("options.groups[0].name must be a string, got 1"),
    },
    {
      door: "new Manager",
      args: [{ groups: [{ name: "a" }, { name: "a" }] }],
      error: new RangeError('options.groups must have different names, got "a" twice'),
    },
    {
      door: "new Manager",
      args: [{ groups: [{ name: "a", startTimeout: -1 }] }],
      error: new RangeError(
        "options.groups[0].startTimeout must be a number of at least 0, got -1",
      ),
    },
    {
      door: "new Manager",
      args: [{ groups: [{ name: "a", stopTimeout: Number.NaN }] }],
      error: new RangeError(
        "options.groups[0].stopTimeout must be a number of at least 0, got NaN",
      ),
    },
    {
      door: "new Manager",
      args: [{ signals: {} }],
      error: new TypeError("options.signals must have a method on(), got [object Object]"),
    },
    {
      door: "new Manager",
      args: [{ clock: {} }],
      error: new TypeError("options.clock must have a method monotonic(), got [object Object]"),
    },
    {
      door: "new Manager",
      args: [{ stopTimeout: -1 }],
      error: new RangeError("options.stopTimeout must be a number of at least 0, got -1"),
    },
    {
      door: "manager.run",
      args: [undefined, null],
      error: new TypeError("options must be an object, got null"),
    },
    {
      door: "manager.run",
      args: [undefined, { ref: 1 }],
      error: new TypeError("options.ref must be true or false, got 1"),
    },
    {
      door: "new Manager",
      args: [{ logger: {} }],
      error: new TypeError("options.logger must have a method debug(), got [object Object]"),
    },
    {
      door: "manager.add",
      args: [{ name: "x" }],
      error: new TypeError("runnable must have a method run(), got [object Object]"),
    },
    {
      door: "manager.add",
      args: [{ ...idle, name: "" }],
      error: new RangeError('runnable.name must be a string that is not empty, got ""'),
    },
    {
      door: "manager.add",
      args: [idle],
      error: new RangeError('runnable.name must be different from all others, got "idle" twice'),
    },
    {
      door: "manager.add",
      args: [{ ...idle, name: "x" }, null],
      error: new TypeError("options must be an object, got null"),
    },
    {
      door: "manager.add",
      args: [{ ...idle, name: "x" }, { group: "c" }],
      error: new RangeError('options.group must be "a" or "b", got "c"'),
    },
    {
      door: "manager.run",
      args: [{}],
      error: new TypeError("signal must be an AbortSignal, got [object Object]"),
    },
  ])("$door: $error.message", async ({ door, args, error }) => {
    expect(await errorOf(() => doors[door](...args))).toEqual(error);
    expect(manager.status()).toEqual({
      state: "idle",
      runnables: [{ name: "idle", group: "b", state: "waiting" }],
    });
    expect([queue.size, queue.delayed, queue.isShutDown, clock.waiters()]).toEqual([
      0,
      0,
      false,
      0,
    ]);
  });

  it("get, idle, drain, acquire and run reject, they do not throw", async () => {
    const promises = [
      doors.get(1),
      doors.idle(1),
      doors.drain(null),
      doors.acquire(1),
      doors["manager.run"](1),
    ] as Promise<unknown>[];
    for (const promise of promises) await expect(promise).rejects.toThrow(TypeError);
  });
});

it("takes an explicit undefined for a missing option", () => {
  const undef = undefined;
  expect(() => {
    new WorkQueue({ name: undef, keyOf: undef, limiter: undef, clock: undef, metrics: undef });
    new ExponentialLimiter({ duration: undef, cap: undef, random: undef });
    new MaxOfLimiter([new ExponentialLimiter()], { jitter: undef, clock: undef });
    new TokenBucketLimiter({ ...bucket, cap: undef, expireAfter: undef, clock: undef });
    new Manager({ groups: undef, signals: undef, clock: undef, logger: undef, stopTimeout: undef });
    new Manager({ groups: [{ name: "a", startTimeout: undef, stopTimeout: undef }] });
    new Manager().add(idle, { group: undef });
    queue.add("a", { after: undef, priority: undef });
  }).not.toThrow();
});
