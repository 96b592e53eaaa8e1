import { type Clock, realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  ExponentialLimiter,
  FastSlowLimiter,
  MaxOfLimiter,
  type RateLimiter,
  silentLogger,
  TokenBucketLimiter,
  WorkQueue,
} from "@holdfast/controller";
import { describe, expect, it } from "vitest";

type Make = (options: { clock?: Clock }) => RateLimiter;

const LIMITERS: Record<string, Make> = {
  ExponentialLimiter: (options) => new ExponentialLimiter({ duration: 100, ...options }),
  FastSlowLimiter: (options) =>
    new FastSlowLimiter({ fast: 100, slow: 1_000, maxFast: 2, ...options }),
  TokenBucketLimiter: (options) => new TokenBucketLimiter({ qps: 10, burst: 1, ...options }),
  MaxOfLimiter: (options) => new MaxOfLimiter([new ExponentialLimiter({ duration: 100 })], options),
  "MaxOfLimiter of one that has a clock": ({ clock }) =>
    new MaxOfLimiter([new ExponentialLimiter({ duration: 100, ...(clock && { clock }) })]),
};

const USERS = {
  WorkQueue: (limiter: RateLimiter, clock: Clock) => new WorkQueue({ limiter, clock }),
  Controller: (limiter: RateLimiter, clock: Clock) =>
    new Controller({ name: "keys", reconcile: () => {}, limiter, clock }),
};

const MISMATCH = "limiter must be on the clock of the queue: leave the option clock";

describe.each(Object.entries(LIMITERS))("%s", (_, make) => {
  it("takes the clock of its queue", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ limiter: make({}), clock });
    for (let failure = 1; failure <= 3; failure++) {
      const delay = queue.retry("a");
      expect(queue.requeues("a")).toBe(failure);
      await clock.step(delay);
    }
  });

  it.each(Object.entries(USERS))("works for a %s on the clock of its options", (_name, use) => {
    const clock = new FakeClock();
    const limiter = make({ clock });
    use(limiter, clock);
    expect(() => use(limiter, clock)).not.toThrow();
  });

  it.each(Object.entries(USERS))("is refused by a %s on another clock", (_name, use) => {
    const limiter = make({ clock: new FakeClock() });
    expect(() => use(limiter, new FakeClock())).toThrow(TypeError);
    expect(() => use(limiter, new FakeClock())).toThrow(MISMATCH);
    expect(() => use(limiter, realClock)).toThrow(MISMATCH);
  });

  it("stays on the real clock once it was used alone", () => {
    const limiter = make({});
    limiter.when("a");
    expect(() => USERS.WorkQueue(limiter, new FakeClock())).toThrow(MISMATCH);
  });
});

it("a MaxOfLimiter refuses limiters on two clocks", () => {
  const limiters = [1, 2].map(() => new ExponentialLimiter({ clock: new FakeClock() }));
  expect(() => new MaxOfLimiter(limiters)).toThrow("limiters must be on the clock of the queue");
});

it("a Controller on a fake clock gives up after its retries, with a limiter that names no clock", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  let calls = 0;
  const controller = new Controller({
    name: "keys",
    reconcile: () => {
      calls++;
      throw new Error("refused");
    },
    limiter: new ExponentialLimiter({ duration: 100 }),
    retries: 3,
    logger: silentLogger,
    clock,
  });
  controller.add("a");
  const running = controller.run(stop.signal);
  await clock.step(3_600_000);
  stop.abort();
  await running;
  expect(calls).toBe(4);
});
