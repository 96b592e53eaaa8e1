import type { Timer } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { collectGarbage } from "../../../../test/collect-garbage.ts";
import { type Timeline, timelineOf } from "../../../../test/timeline.ts";

const NANOSECOND = 1e-6;

let clock: FakeClock;
let timeline: Timeline;

beforeEach(() => {
  clock = new FakeClock();
  timeline = timelineOf(clock);
});

function arm(delay: number, event: unknown, label?: string): Timer {
  return clock.afterFunc(delay, () => timeline.note(event), { label });
}

describe("a new FakeClock", () => {
  it("shows the first instant of the year 2000, and a monotonic time far from it", () => {
    expect(new Date(clock.now()).toISOString()).toBe("2000-01-01T00:00:00.000Z");
    expect(clock.monotonic()).toBe(1_000_000);
  });

  it("starts at options.now", () => {
    const other = new FakeClock({ now: -5 });
    expect([other.now(), other.monotonic()]).toEqual([-5, 1_000_000]);
  });

  it("has no waiters", () => {
    expect([clock.waiters(), clock.hasWaiters(), clock.pending()]).toEqual([0, false, []]);
  });
});

describe("step", () => {
  it("fires a timer due at its end and none due a nanosecond later", async () => {
    arm(10, "at the end");
    arm(10 + NANOSECOND, "after it");
    await clock.step(10);
    expect(timeline.events).toEqual([[10, "at the end"]]);
    await clock.step(NANOSECOND);
    expect(timeline.events.map(([, event]) => event)).toEqual(["at the end", "after it"]);
  });

  it("ends at its end, with and without timers", async () => {
    const start = clock.monotonic();
    await clock.step(10);
    arm(3, "early");
    await clock.step(10);
    expect(clock.monotonic() - start).toBe(20);
  });

  it.each([0, -0, -5, Number.NEGATIVE_INFINITY])(
    "of 0 fires a delay of %d without moving time",
    async (delay) => {
      arm(delay, "due");
      expect(timeline.events).toEqual([]);
      await clock.step(0);
      expect(timeline.events).toEqual([[0, "due"]]);
    },
  );

  it("fires the same timers in ten small steps and in one step", async () => {
    const fire = async (steps: number, length: number): Promise<Timeline["events"]> => {
      clock = new FakeClock();
      timeline = timelineOf(clock);
      for (const delay of [0.1, 0.3, 0.7, 0.999999, 1, 1.000001]) arm(delay, delay);
      for (let index = 0; index < steps; index++) await clock.step(length);
      expect(clock.monotonic()).toBe(1_000_001);
      return timeline.events.map(([, event]) => [0, event]);
    };
    const tenths = await fire(10, 0.1);
    expect(tenths.map(([, event]) => event)).toEqual([0.1, 0.3, 0.7, 0.999999, 1]);
    expect(await fire(1, 1)).toEqual(tenths);
  });

  it("fires a timer at its own time that is armed 50 promises after a callback", async () => {
    const hopThenArm = async (): Promise<void> => {
      for (let hop = 0; hop < 50; hop++) await Promise.resolve();
      arm(5, "inner");
    };
    clock.afterFunc(10, () => void hopThenArm());
    arm(15, "same instant, armed before");
    arm(100, "later");
    await clock.step(100);
    expect(timeline.events).toEqual([
      [15, "same instant, armed before"],
      [15, "inner"],
      [100, "later"],
    ]);
  });

  it("gives a ticker with a fast consumer every tick, and stepSync one", async () => {
    const start = clock.monotonic();
    const ticker = clock.newTicker(10);
    const consume = async (): Promise<void> => {
      for await (const at of ticker) timeline.note(at - start);
    };
    const consumed = consume();
    await clock.step(30);
    expect(timeline.events).toEqual([
      [10, 10],
      [20, 20],
      [30, 30],
    ]);
    clock.stepSync(100);
    await clock.step(0);
    expect(timeline.events.slice(3)).toEqual([
      [130, 40],
      [130, 50],
    ]);
    expect(ticker.dropped).toBe(8);
    ticker.stop();
    await consumed;
  });

  it("rejects with the error of a callback, at its instant, and the clock still works", async () => {
    const error = new Error("thrown");
    arm(5, "before");
    const thrower = clock.afterFunc(10, () => {
      throw error;
    });
    arm(10, "same instant");
    arm(20, "later");
    await expect(clock.step(100)).rejects.toBe(error);
    expect([clock.monotonic(), clock.waiters()]).toEqual([1_000_010, 2]);
    expect([thrower.active, await thrower.fired]).toEqual([false, true]);
    await clock.step(100);
    expect(timeline.events).toEqual([
      [5, "before"],
      [10, "same instant"],
      [20, "later"],
    ]);
  });
});

describe("a delay of a fraction of a nanosecond", () => {
  it.each([
    { delay: 0.4 * NANOSECOND, takes: 1 },
    { delay: 0.6 * NANOSECOND, takes: 1 },
    { delay: 1.4 * NANOSECOND, takes: 1 },
    { delay: 1.6 * NANOSECOND, takes: 2 },
  ])("of $delay ms takes $takes ns, as a step of it does", ({ delay, takes }) => {
    arm(delay, "due");
    clock.stepSync(0);
    expect(timeline.events).toEqual([]);
    clock.stepSync(delay);
    expect(timeline.events).toHaveLength(1);
    expect(Math.round((clock.monotonic() - 1_000_000) / NANOSECOND)).toBe(takes);
  });

  it.each([1000 / 3, 0.1 + 0.2, 1 / 3])("remains of %d ms, and is slept", async (duration) => {
    const deadline = clock.monotonic() + duration;
    let sleeps = 0;
    await clock.run(async () => {
      for (; clock.monotonic() < deadline; sleeps++) await clock.sleepUntil(deadline);
    });
    expect(sleeps).toBeLessThanOrEqual(2);
    expect(clock.monotonic() - deadline).toBeLessThan(NANOSECOND);
  });
});

describe("stepSync", () => {
  it("fires callbacks and leaves promises for later", async () => {
    arm(10, "callback");
    void clock.sleep(10).then(() => timeline.note("promise"));
    clock.stepSync(20);
    expect(timeline.events).toEqual([[10, "callback"]]);
    await clock.step(0);
    expect(timeline.events).toEqual([
      [10, "callback"],
      [20, "promise"],
    ]);
  });

  it("throws the error of a callback, at its instant, and the clock still works", () => {
    arm(20, "later");
    clock.afterFunc(10, () => {
      throw new Error("thrown");
    });
    expect(() => clock.stepSync(100)).toThrow(new Error("thrown"));
    expect(clock.monotonic()).toBe(1_000_010);
    clock.stepSync(100);
    expect([clock.monotonic(), timeline.events]).toEqual([1_000_110, [[20, "later"]]]);
  });

  it("lets a callback read, arm, stop and reset", () => {
    const victim = arm(30, "stopped");
    const other = arm(40, "put forward");
    clock.afterFunc(10, () => {
      timeline.note([clock.waiters(), victim.stop(), other.reset(5), clock.waiters()]);
      arm(0, "same instant");
      arm(2, "new");
    });
    clock.stepSync(50);
    expect(timeline.events).toEqual([
      [10, [2, true, true, 1]],
      [10, "same instant"],
      [12, "new"],
      [15, "put forward"],
    ]);
  });
});

describe("setTime", () => {
  it("steps to an instant of the wall clock", async () => {
    arm(10, "fired");
    const to = clock.now() + 10;
    await clock.setTime(to);
    expect([clock.now(), timeline.events]).toEqual([to, [[10, "fired"]]]);
    await clock.setTime(to);
    expect(clock.now()).toBe(to);
  });

  it("follows the wall clock after it jumped", async () => {
    clock.setSystemTime(5000);
    arm(10, "fired");
    await clock.setTime(5010);
    expect([clock.now(), timeline.events]).toEqual([5010, [[10, "fired"]]]);
  });

  it("does not go back", async () => {
    const now = clock.now();
    await expect(clock.setTime(now - 1)).rejects.toThrow(
      new RangeError(`instant must not be before now(), ${now}, got ${now - 1}`),
    );
    expect(clock.now()).toBe(now);
  });
});

describe("setSystemTime", () => {
  it.each([0, 1e15, -1e15])("to %d moves now() alone and fires nothing", async (instant) => {
    arm(0, "due");
    arm(10, "later");
    clock.setSystemTime(instant);
    expect([clock.now(), clock.monotonic(), timeline.events]).toEqual([instant, 1_000_000, []]);
    await clock.step(10);
    expect(clock.now()).toBe(instant + 10);
    expect(timeline.events).toEqual([
      [0, "due"],
      [10, "later"],
    ]);
  });

  it("works in a callback", () => {
    clock.afterFunc(10, () => clock.setSystemTime(7));
    clock.stepSync(20);
    expect(clock.now()).toBe(17);
  });
});

describe("timers of one instant", () => {
  const order = Array.from({ length: 10_000 }, (_, index) => index);

  function fireAll(options: ConstructorParameters<typeof FakeClock>[0]): number[] {
    const seen: number[] = [];
    const other = new FakeClock(options);
    for (const index of order) other.afterFunc(10, () => seen.push(index));
    other.stepSync(10);
    return seen;
  }

  it.each([undefined, {}, { ties: undefined }, { ties: "fifo" as const }])(
    "fire in the order of creation, all 10,000: %o",
    (options) => {
      expect(fireAll(options)).toEqual(order);
    },
  );

  it("are shuffled by a seed: the same seed gives the same order", () => {
    const [one, again, two] = [1, 1, 2].map((seed) => fireAll({ ties: { seed } })) as [
      number[],
      number[],
      number[],
    ];
    expect(one).toEqual(again);
    expect(one).not.toEqual(two);
    for (const seen of [one, two]) {
      expect(seen).not.toEqual(order);
      expect(seen.toSorted((a, b) => a - b)).toEqual(order);
    }
  });

  it("never overtake an earlier instant, with any seed", () => {
    const other = new FakeClock({ ties: { seed: 7 } });
    const seen: number[] = [];
    for (const delay of [3, 1, 2, 1, 3, 2]) other.afterFunc(delay, () => seen.push(delay));
    other.stepSync(3);
    expect(seen).toEqual([1, 1, 2, 2, 3, 3]);
  });
});

describe("waiters", () => {
  it("count timers, sleeps, tickers and timeouts while they are armed", async () => {
    const counts: number[] = [];
    const count = () => counts.push(clock.waiters());
    count();
    clock.newTimer(2000);
    count();
    void clock.sleep(1000);
    count();
    const ticker = clock.newTicker(3000);
    count();
    clock.timeout(2000);
    count();
    await clock.step(1000);
    count();
    await clock.step(1000);
    count();
    await clock.step(1000);
    count();
    ticker.stop();
    count();
    const timer = clock.newTimer(Number.POSITIVE_INFINITY);
    count();
    timer.stop();
    count();
    expect(counts).toEqual([0, 1, 2, 3, 4, 3, 1, 1, 0, 1, 0]);
  });

  it("are listed in firing order with their options", () => {
    clock.newTimer(Number.POSITIVE_INFINITY);
    clock.newTimer(20, { label: "b", ref: false });
    clock.newTicker(20, { label: "c" });
    void clock.sleep(10, { label: "a" });
    clock.timeout(30, { label: "d" });
    expect(clock.hasWaiters()).toBe(true);
    expect(clock.pending()).toEqual([
      { label: "a", deadline: 1_000_010, ref: true },
      { label: "b", deadline: 1_000_020, ref: false },
      { label: "c", deadline: 1_000_020, ref: true },
      { label: "d", deadline: 1_000_030, ref: false },
      { label: undefined, deadline: Number.POSITIVE_INFINITY, ref: true },
    ]);
  });

  it("are stopped when the clock is disposed", async () => {
    const timer = arm(10, "fired");
    const { fired } = timer;
    clock.newTicker(5);
    clock[Symbol.dispose]();
    expect([clock.waiters(), timer.active, await fired]).toEqual([0, false, false]);
    await clock.step(100);
    expect(timeline.events).toEqual([]);
  });
});

describe("a delay above 0", () => {
  it.each([0, 1, 365, 10_000])(
    "takes time %d days after the start of a fake clock",
    async (days) => {
      await clock.step(days * 24 * 60 * 60 * 1_000);
      const before = clock.monotonic();
      const deadline = before + 1e-6;
      await clock.run(async () => {
        do await clock.sleep(1e-6);
        while (clock.monotonic() < deadline);
      });
      const passed = clock.monotonic() - before;
      expect(passed).toBeGreaterThan(0);
      expect(passed).toBeLessThanOrEqual(Math.max(1.001e-6, 2 * before * Number.EPSILON));
    },
  );
});

describe("waitForWaiters", () => {
  it("resolves when exactly the count is armed already", async () => {
    clock.newTimer(1);
    clock.newTimer(2);
    const outcome = clock.waitForWaiters(2).then(() => "met");
    expect(await Promise.race([outcome, clock.step(0).then(() => "not yet")])).toBe("met");
  });

  it("resolves as soon as the count is armed, at once if it is", async () => {
    const note = (event: string) => () => timeline.note(event);
    const all = [
      clock.waitForWaiters(0).then(note("0")),
      clock.waitForWaiters(1).then(note("1")),
      clock.waitForWaiters(2).then(note("2")),
    ];
    await clock.step(0);
    const first = clock.newTimer(10);
    await clock.step(0);
    timeline.note("first armed");
    first.stop();
    clock.newTimer(10);
    await clock.step(0);
    timeline.note("another armed");
    clock.newTimer(10);
    clock.newTimer(10);
    all.push(clock.waitForWaiters(2).then(note("enough already")));
    await Promise.all(all);
    expect(timeline.events.map(([, event]) => event)).toEqual([
      "0",
      "1",
      "first armed",
      "another armed",
      "2",
      "enough already",
    ]);
  });

  it("lets a test step after background code has armed its timer", async () => {
    setImmediate(() => void clock.sleep(50).then(() => timeline.note("slept")));
    await clock.waitForWaiters(1);
    await clock.step(50);
    expect(timeline.events).toEqual([[50, "slept"]]);
  });

  it.each([{ reason: undefined }, { reason: null }, { reason: 0 }, { reason: "" }])(
    "rejects with $reason when its signal aborts, then or before",
    async ({ reason }) => {
      const stop = new AbortController();
      const { signal } = stop;
      const outcomeOf = (wait: Promise<void>) =>
        wait.then(
          () => "resolved",
          (thrown: unknown) => ({ thrown }),
        );
      const waits = [1, 2].map((count) => outcomeOf(clock.waitForWaiters(count, { signal })));
      expect(abortListeners(signal)).toBe(1);
      stop.abort(reason);
      waits.push(outcomeOf(clock.waitForWaiters(0, { signal })));
      const rejected = { thrown: signal.reason as unknown };
      expect(await Promise.all(waits)).toEqual([rejected, rejected, rejected]);
      expect(abortListeners(signal)).toBe(0);
      clock.newTimer(1);
    },
  );

  it("has no listener on its signal after it has resolved", async () => {
    const { signal } = new AbortController();
    const wait = clock.waitForWaiters(1, { signal });
    clock.newTimer(1);
    await wait;
    expect(abortListeners(signal)).toBe(0);
  });

  it("keeps no reference to ended waits", async () => {
    const ref = (() => {
      const stop = new AbortController();
      clock.waitForWaiters(1, { signal: stop.signal }).catch(() => {});
      stop.abort();
      return new WeakRef(stop.signal);
    })();
    await collectGarbage();
    expect(ref.deref()).toBeUndefined();
    expect(clock.waiters()).toBe(0);
  });

  it("counts a timer armed by reset", async () => {
    const timer = clock.newTimer(1);
    timer.stop();
    const wait = clock.waitForWaiters(1);
    timer.reset(1);
    await expect(wait).resolves.toBeUndefined();
  });
});

it("has methods that work without the object", async () => {
  const { sleep, step, stepSync, setTime, setSystemTime, waiters, run, pending } = new FakeClock();
  void sleep(10);
  expect([waiters(), pending().length]).toEqual([1, 1]);
  await step(5);
  stepSync(5);
  setSystemTime(0);
  await setTime(5);
  expect([waiters(), await run(() => "done")]).toEqual([0, "done"]);
});
