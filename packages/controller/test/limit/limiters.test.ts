import { FakeClock } from "@holdfast/clock/testing";
import {
  ExponentialLimiter,
  FastSlowLimiter,
  MaxOfLimiter,
  type RateLimiter,
  TokenBucketLimiter,
} from "@holdfast/controller";
import { describe, expect, it } from "vitest";

const clock = new FakeClock();

/** The delays of so many failures of a key, each as soon as the backoff before is over. */
async function delaysOf(limiter: RateLimiter, count: number, key = "a"): Promise<number[]> {
  const delays: number[] = [];
  for (let i = 0; i < count; i++) {
    const delay = limiter.when(key);
    delays.push(delay);
    await clock.step(delay);
  }
  return delays;
}

describe("the delays of", () => {
  it.each<{ name: string; limiter: RateLimiter; want: number[] }>([
    {
      name: "an exponential limiter",
      limiter: new ExponentialLimiter({ duration: 1, cap: 1_000, clock }),
      want: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_000, 1_000],
    },
    {
      name: "an exponential limiter with a factor",
      limiter: new ExponentialLimiter({ duration: 100, factor: 1.5, cap: 400, clock }),
      want: [100, 150, 225, 337.5, 400, 400],
    },
    {
      name: "an exponential limiter that does not grow",
      limiter: new ExponentialLimiter({ duration: 7, factor: 1, clock }),
      want: [7, 7, 7],
    },
    {
      name: "an exponential limiter with jitter",
      limiter: new ExponentialLimiter({
        duration: 8,
        cap: 16,
        jitter: 0.5,
        random: () => 0.5,
        clock,
      }),
      want: [10, 20, 20],
    },
    {
      name: "an exponential limiter without delay",
      limiter: new ExponentialLimiter({ duration: 0, clock }),
      want: [0, 0, 0],
    },
    {
      name: "a fast-slow limiter",
      limiter: new FastSlowLimiter({ fast: 5, slow: 10_000, maxFast: 3, clock }),
      want: [5, 5, 5, 10_000, 10_000],
    },
    {
      name: "a fast-slow limiter that is never fast",
      limiter: new FastSlowLimiter({ fast: 5, slow: 10, maxFast: 0, clock }),
      want: [10, 10],
    },
    {
      name: "the longest of two",
      limiter: new MaxOfLimiter(
        [
          new FastSlowLimiter({ fast: 5, slow: 3_000, maxFast: 3, clock }),
          new ExponentialLimiter({ duration: 1, cap: 1_000, clock }),
        ],
        { clock },
      ),
      want: [5, 5, 5, 3_000, 3_000],
    },
    {
      name: "the longest of one, with jitter",
      limiter: new MaxOfLimiter([new ExponentialLimiter({ duration: 100, cap: 200, clock })], {
        jitter: 1,
        random: () => 0.25,
        clock,
      }),
      want: [125, 250, 250],
    },
  ])("$name", async ({ limiter, want }) => {
    expect(await delaysOf(limiter, want.length)).toEqual(want);
  });

  it("a thousand failures stay at the cap", async () => {
    const limiter = new ExponentialLimiter({ duration: 60_000, cap: 3_600_000_000, clock });
    const delays = await delaysOf(limiter, 1_100);
    expect(delays[2]).toBe(240_000);
    expect(new Set(delays.slice(16))).toEqual(new Set([3_600_000_000]));
    expect(limiter.requeues("a")).toBe(1_100);
  });

  it("never, which jitter leaves alone", () => {
    const never = { when: () => Number.POSITIVE_INFINITY, forget: () => {}, requeues: () => 0 };
    expect(new MaxOfLimiter([never], { jitter: 1, clock }).when("a")).toBe(Infinity);
  });

  it("each key by itself, until it is forgotten", async () => {
    for (const limiter of [
      new ExponentialLimiter({ duration: 1, clock }),
      new FastSlowLimiter({ fast: 1, slow: 2, maxFast: 1, clock }),
      new MaxOfLimiter([new ExponentialLimiter({ duration: 1, clock })], { clock }),
    ]) {
      expect(await delaysOf(limiter, 2, "a")).toEqual([1, 2]);
      expect(await delaysOf(limiter, 2, "b")).toEqual([1, 2]);
      expect([limiter.requeues("a"), limiter.requeues("c")]).toEqual([2, 0]);
      limiter.forget("a");
      expect([limiter.requeues("a"), limiter.when("a"), limiter.requeues("b")]).toEqual([0, 1, 2]);
    }
  });
});

describe("a failure before its backoff is over", () => {
  it.each<{ name: string; limiter: RateLimiter }>([
    { name: "exponential", limiter: new ExponentialLimiter({ duration: 100, clock }) },
    {
      name: "fast-slow",
      limiter: new FastSlowLimiter({ fast: 100, slow: 200, maxFast: 1, clock }),
    },
    {
      name: "max-of",
      limiter: new MaxOfLimiter([new ExponentialLimiter({ duration: 100, clock })], { clock }),
    },
  ])("is not counted, $name (kubernetes/kubernetes#132805)", async ({ limiter }) => {
    limiter.when("a");
    await clock.step(30);
    expect([limiter.when("a"), limiter.when("a"), limiter.requeues("a")]).toEqual([70, 70, 1]);
    await clock.step(69);
    expect([limiter.when("a"), limiter.requeues("a")]).toEqual([1, 1]);
    await clock.step(1);
    expect([limiter.when("a"), limiter.requeues("a")]).toEqual([200, 2]);
  });

  it("is not counted by any of several limiters until the longest delay is over", async () => {
    const short = new ExponentialLimiter({ duration: 1, clock });
    const long = new FastSlowLimiter({ fast: 100, slow: 100, maxFast: 0, clock });
    const limiter = new MaxOfLimiter([short, long], { clock });
    limiter.when("a");
    await clock.step(50);
    expect([limiter.when("a"), short.requeues("a")]).toEqual([50, 1]);
  });

  it("counts the failures of the limiter with the most", async () => {
    const [few, many] = [0, 1].map(() => new ExponentialLimiter({ duration: 100, clock }));
    const limiter = new MaxOfLimiter([few, many] as RateLimiter[], { clock });
    limiter.when("a");
    await clock.step(100);
    many?.when("a");
    expect([few?.requeues("a"), limiter.requeues("a")]).toEqual([1, 2]);
  });

  it("asks a limiter that counts nothing once", () => {
    let asked = 0;
    const when = (): number => ++asked;
    const limiter = new MaxOfLimiter([{ when, forget: () => {}, requeues: () => 0 }], { clock });
    expect([limiter.when("a"), asked]).toEqual([1, 1]);
  });

  it("takes no second token (kubernetes-sigs/controller-runtime#1594)", async () => {
    const limiter = new TokenBucketLimiter({ qps: 10, burst: 1, clock });
    limiter.when("a");
    expect([limiter.when("b"), limiter.when("b"), limiter.when("b")]).toEqual([100, 100, 100]);
    expect(limiter.when("c")).toBe(200);
    await clock.step(100);
    expect(limiter.when("b")).toBe(200);
    expect(limiter.requeues("b")).toBe(2);
  });

  it("counts again once the key is forgotten", () => {
    for (const limiter of [
      new ExponentialLimiter({ duration: 100, clock }),
      new FastSlowLimiter({ fast: 100, slow: 200, maxFast: 1, clock }),
      new MaxOfLimiter([new ExponentialLimiter({ duration: 100, clock })], { clock }),
    ]) {
      limiter.when("a");
      limiter.forget("a");
      expect([limiter.when("a"), limiter.requeues("a")]).toEqual([100, 1]);
    }
  });

  it("takes a token again once it is forgotten", () => {
    const limiter = new TokenBucketLimiter({ qps: 10, burst: 1, clock });
    limiter.when("a");
    limiter.when("b");
    limiter.forget("b");
    expect(limiter.when("b")).toBe(200);
  });
});

describe("a failure with its own delay", () => {
  const limiters = () => {
    const exponential = new ExponentialLimiter({ duration: 100, clock });
    return [
      { name: "exponential", limiter: exponential, third: 400 },
      {
        name: "fast-slow",
        limiter: new FastSlowLimiter({ fast: 100, slow: 300, maxFast: 2, clock }),
        third: 300,
      },
      {
        name: "token bucket",
        limiter: new TokenBucketLimiter({ qps: 10, burst: 1, clock }),
        third: 0,
      },
      {
        name: "max-of",
        limiter: new MaxOfLimiter([new ExponentialLimiter({ duration: 100, clock })], { clock }),
        third: 400,
      },
    ] satisfies { name: string; limiter: RateLimiter; third: number }[];
  };

  it.each(limiters())("counts, and backs off for that delay: $name", async ({ limiter, third }) => {
    expect([limiter.when("a", 1_000), limiter.requeues("a")]).toEqual([1_000, 1]);
    await clock.step(999);
    expect([limiter.when("a"), limiter.requeues("a")]).toEqual([1, 1]);
    await clock.step(1);
    expect([limiter.when("a", 0), limiter.requeues("a")]).toEqual([0, 2]);
    expect([limiter.when("a"), limiter.requeues("a")]).toEqual([third, 3]);
  });

  it.each(limiters())(
    "replaces the rest of a backoff without counting: $name",
    async ({ limiter }) => {
      limiter.when("a", 100);
      await clock.step(50);
      expect([limiter.when("a", 1_000), limiter.requeues("a")]).toEqual([1_000, 1]);
      await clock.step(999);
      expect(limiter.when("a")).toBe(1);
      expect([limiter.when("a", 0), limiter.requeues("a")]).toEqual([0, 1]);
      limiter.when("a");
      expect(limiter.requeues("a")).toBe(2);
    },
  );

  it("that shortens a backoff lets each of several limiters count the next failure", async () => {
    const short = new ExponentialLimiter({ duration: 1, clock });
    const long = new ExponentialLimiter({ duration: 1_000, clock });
    const limiter = new MaxOfLimiter([short, long], { clock });
    limiter.when("a");
    expect(limiter.when("a", 10)).toBe(10);
    await clock.step(10);
    expect(limiter.when("a")).toBe(2_000);
    expect([short.requeues("a"), long.requeues("a")]).toEqual([2, 2]);
    limiter.when("a", 0);
    limiter.when("a", 0);
    expect([short.requeues("a"), long.requeues("a")]).toEqual([3, 3]);
  });

  it.each(limiters())(
    "is no backoff if it is Infinity: the next failure counts: $name",
    async ({ limiter, third }) => {
      limiter.when("a", 100);
      await clock.step(50);
      const never = Number.POSITIVE_INFINITY;
      expect([limiter.when("a", never), limiter.requeues("a")]).toEqual([never, 1]);
      expect([limiter.when("a", never), limiter.requeues("a")]).toEqual([never, 2]);
      expect([limiter.when("a"), limiter.requeues("a")]).toEqual([third, 3]);
    },
  );

  it.each(limiters())("that is negative means 0: $name", ({ limiter }) => {
    expect([limiter.when("a", -5), limiter.requeues("a")]).toEqual([0, 1]);
  });

  it("takes no token", () => {
    const limiter = new TokenBucketLimiter({ qps: 10, burst: 1, clock });
    limiter.when("a", 5);
    expect([limiter.when("b"), limiter.when("c")]).toEqual([0, 100]);
  });
});

describe("failure records", () => {
  it("expire a while after their backoff (kubernetes/kubernetes#138743)", async () => {
    const limiter = new ExponentialLimiter({ duration: 100, expireAfter: 1_000, clock });
    limiter.when("a");
    await clock.step(1_100);
    expect([limiter.requeues("a"), limiter.when("a")]).toEqual([1, 200]);
    await clock.step(1_201);
    expect([limiter.requeues("a"), limiter.when("a"), limiter.requeues("a")]).toEqual([0, 100, 1]);
  });

  it.each([
    { longest: 100, expiry: 3_600_000 },
    { longest: 1_800_001, expiry: 3_600_002 },
  ])(
    "expire by default after twice the longest delay, and an hour at least: $longest",
    async ({ longest, expiry }) => {
      const exponential = new ExponentialLimiter({ duration: 10, cap: longest, clock });
      const fastSlow = new FastSlowLimiter({ fast: 10, slow: longest, maxFast: 1, clock });
      for (const limiter of [exponential, fastSlow]) {
        limiter.when("a");
        await clock.step(10 + expiry);
        expect(limiter.requeues("a")).toBe(1);
        await clock.step(1);
        expect(limiter.requeues("a")).toBe(0);
      }
    },
  );

  it("of a token bucket expire by default after an hour", async () => {
    const limiter = new TokenBucketLimiter({ qps: 1, burst: 1, clock });
    limiter.when("a");
    await clock.step(3_600_000);
    expect(limiter.requeues("a")).toBe(1);
    await clock.step(1);
    expect(limiter.requeues("a")).toBe(0);
  });

  it("outlive a retry that takes longer than the longest delays", async () => {
    const limiter = new ExponentialLimiter({ duration: 5, cap: 1_000, clock });
    const delays: number[] = [];
    for (let i = 0; i < 4; i++) {
      delays.push(limiter.when("a"));
      await clock.step((delays.at(-1) ?? 0) + 2_500);
    }
    expect(delays).toEqual([5, 10, 20, 40]);
  });
});

describe("a token bucket", () => {
  it("allows a burst, and then the given rate", async () => {
    const limiter = new TokenBucketLimiter({ qps: 4, burst: 2, clock });
    const keys = ["a", "b", "c", "d"];
    expect(keys.map((key) => limiter.when(key))).toEqual([0, 0, 250, 500]);
    await clock.step(10_000);
    expect(["e", "f", "g"].map((key) => limiter.when(key))).toEqual([0, 0, 250]);
  });

  it("limits its debt (kubernetes/kubernetes#104554)", async () => {
    const limiter = new TokenBucketLimiter({ qps: 10, burst: 1, cap: 1_000, clock });
    const delays = Array.from({ length: 10_000 }, (_, i) => limiter.when(`${i}`));
    expect(Math.max(...delays)).toBeLessThanOrEqual(1_000);
    await clock.step(1_100);
    expect(limiter.when("after")).toBe(0);
  });

  it("allows everything at an infinite rate", () => {
    const limiter = new TokenBucketLimiter({ qps: Number.POSITIVE_INFINITY, burst: 1, clock });
    expect([limiter.when("a"), limiter.when("b"), limiter.when("c")]).toEqual([0, 0, 0]);
  });

  it("follows the clock it is given (client-go's reads the machine's)", async () => {
    const own = new FakeClock();
    const limiter = new TokenBucketLimiter({ qps: 1, burst: 1, clock: own });
    limiter.when("a");
    expect(limiter.when("b")).toBe(1_000);
    await own.step(2_000);
    expect(limiter.when("c")).toBe(0);
  });
});

it("has finite delays after any number of failures, with jitter and without a cap", () => {
  const limiter = new ExponentialLimiter({ cap: Infinity, jitter: 0.5, clock });
  const delays = Array.from({ length: 1_100 }, () => {
    const delay = limiter.when("a");
    limiter.when("a", Number.POSITIVE_INFINITY); // no backoff: the next failure counts
    return delay;
  });
  expect(delays.filter((delay) => !Number.isFinite(delay))).toEqual([]);
});
