import { FakeClock } from "@holdfast/clock/testing";
import { KeyedBackoff, type KeyedBackoffOptions } from "@holdfast/wait/go";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ALMOST_ONE, draws } from "../draws.ts";

let clock: FakeClock;

beforeEach(() => {
  clock = new FakeClock();
});

const open = (options: Partial<KeyedBackoffOptions> = {}) =>
  new KeyedBackoff({ duration: 1000, cap: 50_000, clock, ...options });

describe("the delay of a key", () => {
  it("is 0, doubles to the cap, and is 0 again after a reset (SlowBackoff)", () => {
    const backoff = open();
    const seen = [backoff.get("a")];
    for (let failure = 0; failure < 9; failure++) {
      const delay = backoff.next("a");
      expect(backoff.get("a")).toBe(delay);
      seen.push(delay);
    }
    expect(seen.map((delay) => delay / 1000)).toEqual([0, 1, 2, 4, 8, 16, 32, 50, 50, 50]);
    backoff.reset("a");
    expect([backoff.get("a"), backoff.next("a")]).toEqual([0, 1000]);
  });

  it("is independent of other keys", () => {
    const backoff = open();
    backoff.next("a");
    backoff.next("a");
    expect([backoff.next("b"), backoff.next("a")]).toEqual([1000, 4000]);
  });

  it("is not limited by the cap at first", () => {
    const backoff = open({ duration: 3000, cap: 2000 });
    expect([backoff.next("a"), backoff.next("a")]).toEqual([3000, 2000]);
  });

  it("stays 0 for a duration of 0", () => {
    const backoff = open({ duration: 0 });
    expect([backoff.next("a"), backoff.next("a")]).toEqual([0, 0]);
    expect(backoff.isInBackoffSinceUpdate("a")).toBe(false);
  });

  it("is at most 2^63 ns and never negative", () => {
    const backoff = open({ duration: 2 ** 61 / 1e6, cap: 1e300 });
    const delays = Array.from({ length: 4 }, () => backoff.next("a"));
    expect(delays.map((delay) => Math.log2(delay * 1e6))).toEqual([61, 62, 63, 63]);
  });

  it("accepts keys of any type", () => {
    const backoff = new KeyedBackoff<object>({ duration: 1, cap: 10, clock });
    const [one, other] = [{}, {}];
    expect([backoff.next(one), backoff.next(one), backoff.next(other)]).toEqual([1, 2, 1]);
  });
});

describe("jitter (BackoffWithJitter)", () => {
  it("is added to each delay and doubled with it", () => {
    const backoff = open({ duration: 100, cap: 10_000, jitter: 0.1, random: draws(0.5) });
    expect([backoff.next("a"), backoff.next("a"), backoff.next("a")]).toEqual([
      105, 215.25, 441.2625,
    ]);
  });

  it("can take the first delay above the cap, but no later one", () => {
    const backoff = open({ duration: 100, cap: 100, jitter: 1, random: () => ALMOST_ONE });
    expect(Math.round(backoff.next("a"))).toBe(200);
    expect(backoff.next("a")).toBe(100);
  });

  it("draws once for each delay, and not at all without jitter", () => {
    const random = vi.fn(() => 0.5);
    const jittered = open({ jitter: 0.1, random });
    jittered.next("a");
    jittered.next("a");
    open({ random }).next("a");
    expect(random).toHaveBeenCalledTimes(2);
  });
});

describe("an expired key", () => {
  it("is older than twice the cap by default, and starts over", () => {
    const backoff = open({ cap: 5000 });
    backoff.next("a");
    backoff.next("a");
    clock.stepSync(10_000);
    expect(backoff.next("a")).toBe(4000);
    clock.stepSync(10_000.000_001);
    expect(backoff.get("a")).toBe(4000);
    expect(backoff.next("a")).toBe(1000);
  });

  it("is older at the instant passed to next, not at the call", () => {
    const backoff = open({ cap: 5000 });
    const start = clock.monotonic();
    backoff.next("a");
    clock.stepSync(60_000);
    expect(backoff.next("a", start + 10_000)).toBe(2000);
    expect(backoff.next("a", clock.monotonic() + 10_001)).toBe(1000);
  });

  interface Case {
    readonly resetAfter: number | undefined;
    readonly idle: number;
    readonly next: number;
  }

  it.each<Case>([
    { resetAfter: undefined, idle: 100_000, next: 2000 },
    { resetAfter: undefined, idle: 100_001, next: 1000 },
    { resetAfter: 600_000, idle: 600_000, next: 2000 },
    { resetAfter: 600_000, idle: 600_001, next: 1000 },
    { resetAfter: 0, idle: 0, next: 2000 },
    { resetAfter: 0, idle: 0.000_001, next: 1000 },
    { resetAfter: Number.POSITIVE_INFINITY, idle: 1e12, next: 2000 },
  ])(
    "is older than a resetAfter of $resetAfter, at $idle (AlternateHasExpiredFunc)",
    ({ resetAfter, idle, next }) => {
      const backoff = open({ resetAfter });
      backoff.next("a");
      clock.stepSync(idle);
      expect(backoff.next("a")).toBe(next);
    },
  );
});

describe("in backoff", () => {
  it("is true until the delay is over (BackoffReset)", () => {
    const backoff = open({ cap: 5000 });
    const start = clock.monotonic();
    expect(backoff.isInBackoffSince("a", start)).toBe(false);
    backoff.next("a");
    expect(backoff.isInBackoffSince("a", start)).toBe(true);
    clock.stepSync(999.999_999);
    expect(backoff.isInBackoffSince("a", start)).toBe(true);
    expect(backoff.isInBackoffSinceUpdate("a")).toBe(true);
    clock.stepSync(0.000_001);
    expect(backoff.isInBackoffSince("a", start)).toBe(false);
    expect(backoff.isInBackoffSinceUpdate("a")).toBe(false);
    expect(backoff.isInBackoffSince("a", start + 1)).toBe(true);
    expect(backoff.isInBackoffSinceUpdate("a", start + 999)).toBe(true);
    expect(backoff.isInBackoffSince("b", clock.monotonic())).toBe(false);
    expect(backoff.isInBackoffSinceUpdate("b")).toBe(false);
  });

  it("is false for a key that has expired at the instant", () => {
    const backoff = open({ duration: 1000, cap: 10, resetAfter: 500 });
    const start = clock.monotonic();
    backoff.next("a");
    clock.stepSync(501);
    expect(backoff.isInBackoffSince("a", start + 500)).toBe(true);
    expect(backoff.isInBackoffSince("a", start + 501)).toBe(false);
    expect(backoff.isInBackoffSinceUpdate("a", start + 500)).toBe(true);
    expect(backoff.isInBackoffSinceUpdate("a")).toBe(false);
  });

  it("keeps the highest delay without further failures (BackoffHighWaterMark)", () => {
    const backoff = open({ cap: 5000 });
    const start = clock.monotonic();
    for (const _ of Array(5)) backoff.next("a", start);
    clock.stepSync(6000);
    expect(backoff.get("a")).toBe(5000);
  });

  it("follows a table of failures a second apart (IsInBackOffSinceUpdate)", () => {
    const backoff = open({ cap: 10_000 });
    const start = clock.monotonic();
    const failures = [1, 3, 7, 15, 25, 35, 56];
    const delays: number[] = [];
    const free: number[] = [];
    for (let tick = 0; tick <= 60; tick++) {
      const at = start + tick * 1000;
      if (!backoff.isInBackoffSinceUpdate("a", at)) free.push(tick);
      if (failures.includes(tick)) delays.push(backoff.next("a", at) / 1000);
      clock.stepSync(1000);
    }
    expect(delays).toEqual([1, 2, 4, 8, 10, 10, 1]);
    expect(free.filter((tick) => tick <= 35)).toEqual([
      0, 1, 2, 3, 5, 6, 7, 11, 12, 13, 14, 15, 23, 24, 25, 35,
    ]);
  });
});

describe("the keys held", () => {
  it("lose expired keys in gc (BackoffGC, AlternateBackoffGC)", () => {
    const [usual, patient] = [open(), open({ resetAfter: 200_000 })];
    const kept = () => {
      usual.gc();
      patient.gc();
      return [usual.size, patient.size];
    };
    usual.next("a");
    patient.next("a");
    clock.stepSync(100_000);
    expect(kept()).toEqual([1, 1]);
    clock.stepSync(1);
    expect(kept()).toEqual([0, 1]);
    clock.stepSync(100_000);
    expect(kept()).toEqual([0, 0]);
    expect(patient.get("a")).toBe(0);
  });

  it("are bounded without gc: at most twice the unexpired keys", () => {
    const backoff = new KeyedBackoff<number>({ duration: 1, cap: 1000, clock });
    let most = 0;
    for (let key = 0; key < 100_000; key++) {
      backoff.next(key);
      most = Math.max(most, backoff.size);
      clock.stepSync(1);
    }
    // A key is in use for 2,000 ms.
    expect(most).toBe(4000);
  });

  it("include all unexpired keys, and at least a thousand keys", () => {
    const backoff = new KeyedBackoff<number>({ duration: 1, cap: 1, clock });
    for (let key = 0; key < 1024; key++) {
      backoff.next(key);
      clock.stepSync(3);
    }
    expect(backoff.size).toBe(1024);
    backoff.next(1024);
    expect(backoff.size).toBe(1);

    const busy = new KeyedBackoff<number>({ duration: 1, cap: 1, clock });
    for (let key = 0; key < 5000; key++) busy.next(key);
    expect(busy.size).toBe(5000);
  });

  it("do not change when a known key fails", () => {
    const backoff = new KeyedBackoff<number>({ duration: 1, cap: 1, clock });
    for (let key = 0; key < 1024; key++) backoff.next(key);
    clock.stepSync(3);
    backoff.next(0);
    expect(backoff.size).toBe(1024);
  });
});

it("uses the real clock and Math.random by default", () => {
  vi.useFakeTimers();
  const random = vi.spyOn(Math, "random").mockReturnValue(0.5);
  try {
    const backoff = new KeyedBackoff({ duration: 1000, cap: 2000, jitter: 1 });
    expect(backoff.next("a")).toBe(1500);
    expect(backoff.isInBackoffSinceUpdate("a")).toBe(true);
    vi.advanceTimersByTime(1500);
    expect(backoff.isInBackoffSinceUpdate("a")).toBe(false);
  } finally {
    random.mockRestore();
    vi.useRealTimers();
  }
});
