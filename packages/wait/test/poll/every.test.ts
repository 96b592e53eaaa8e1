import { setImmediate } from "node:timers/promises";
import { FakeClock } from "@holdfast/clock/testing";
import { type EveryOptions, every } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { install } from "@sinonjs/fake-timers";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { collectUncaught } from "../../../../test/uncaught.ts";
import { type Harness, harnesses } from "../harness.ts";
import { REASONS } from "../stage.ts";

describe.each(Object.entries(harnesses))("every on %s", (_name, open) => {
  let harness: Harness;
  let stop: AbortController;
  let start: number;

  beforeEach(() => {
    harness = open();
    stop = new AbortController();
    start = harness.clock.monotonic();
  });

  function expectNothingLeft(): void {
    const left = { timers: harness.waiters(), listeners: abortListeners(stop.signal) };
    expect(left).toEqual({ timers: 0, listeners: 0 });
  }

  /** At the end of every test its ticks have ended. */
  afterEach(() => {
    try {
      expectNothingLeft();
    } finally {
      harness.close();
    }
  });

  const now = () => harness.clock.monotonic() - start;

  const ticksOf = (period: number, options: EveryOptions = {}) =>
    every(period, { clock: harness.clock, signal: stop.signal, ...options });

  /** Iterates with bodies of these durations; repeats the last one. */
  async function consume(
    period: number,
    options: EveryOptions,
    durations: readonly number[] = [0],
  ): Promise<{ ticks: number[]; end: number }> {
    const ticks: number[] = [];
    const wrong: number[] = [];
    for await (const tick of ticksOf(period, options)) {
      if (tick !== harness.clock.monotonic()) wrong.push(tick);
      const index = Math.min(ticks.push(tick - start), durations.length) - 1;
      const duration = durations[index] as number;
      if (duration > 0) await harness.clock.sleep(duration);
    }
    expect(wrong).toEqual([]);
    return { ticks, end: now() };
  }

  interface RhythmCase extends EveryOptions {
    readonly bodies?: readonly number[];
    readonly ticks: readonly number[];
  }

  it.each(
    Object.entries<RhythmCase>({
      "a period after the first call of next": { ticks: [1000, 2000, 3000] },
      "at once with immediate": { immediate: true, ticks: [0, 1000, 2000, 3000] },
      "on the grid, for bodies shorter than a period": {
        bodies: [300, 999, 1],
        ticks: [1000, 2000, 3000],
      },
      "once for a body of a period less a millisecond": {
        bodies: [999],
        immediate: true,
        ticks: [0, 1000, 2000, 3000],
      },
      "once for a body of a period": {
        bodies: [1000],
        immediate: true,
        ticks: [0, 1000, 2000, 3000],
      },
      "at once after an overrun, then on the grid, skipping missed ticks": {
        bodies: [1700, 0],
        ticks: [1000, 2700, 3000],
      },
      "at once after an overrun of a millisecond, then on the grid": {
        bodies: [1001, 0],
        immediate: true,
        ticks: [0, 1001, 2000, 3000],
      },
      "once after an overrun of several periods": {
        bodies: [2500, 0],
        immediate: true,
        ticks: [0, 2500, 3000],
      },
      "a period after the end of each body, when sliding": {
        bodies: [300],
        sliding: true,
        ticks: [1000, 2300, 3600],
      },
      "at once, then a period after the end of each body, when sliding": {
        bodies: [1500, 0],
        sliding: true,
        immediate: true,
        ticks: [0, 2500, 3500],
      },
    }),
  )("ticks %s", async (_, { bodies, ticks, ...options }) => {
    const seen = consume(1000, options, bodies);
    await harness.step(3900);
    stop.abort();
    await harness.step(1000);
    expect((await seen).ticks).toEqual(ticks);
  });

  it("does not drift in ten thousand ticks with bodies of different lengths", async () => {
    const random = seededRandom(1);
    const bodies = Array.from({ length: 10_000 }, () => Math.floor(random() * 7));
    const seen = consume(7, {}, bodies);
    await harness.step(70_000);
    stop.abort();
    await harness.step(10);
    expect((await seen).ticks).toEqual(bodies.map((_, index) => (index + 1) * 7));
  });

  it.each([
    { sliding: false, ticks: [1250, 2250, 3250] },
    { sliding: true, ticks: [1250, 2500, 3750] },
  ])("adds jitter (sliding: $sliding)", async ({ sliding, ticks }) => {
    const seen = consume(1000, { sliding, jitter: 0.5, random: () => 0.5 });
    await harness.step(3900);
    stop.abort();
    expect((await seen).ticks).toEqual(ticks);
  });

  it.each([
    { sliding: false, ticks: [3000, 6000] },
    { sliding: true, ticks: [3000, 6000] },
  ])("adds a jitter of two periods in full (sliding: $sliding)", async ({ sliding, ticks }) => {
    const seen = consume(1000, { sliding, jitter: 4, random: () => 0.5 });
    await harness.step(6_900);
    stop.abort();
    expect((await seen).ticks).toEqual(ticks);
  });

  it.each([true, false])("draws from Math.random by default (sliding: %s)", async (sliding) => {
    const seen = consume(1000, { sliding, jitter: 0.5 });
    await harness.step(1501);
    stop.abort();
    const [first, ...others] = (await seen).ticks;
    expect(others).toEqual([]);
    expect(first).toBeGreaterThanOrEqual(1000);
    expect(first).toBeLessThanOrEqual(1500);
  });

  it("arms no timer before the first call of next", () => {
    ticksOf(1000, { immediate: true });
    expectNothingLeft();
  });

  it("measures from the first call of next", async () => {
    const ticks = ticksOf(1000);
    await harness.step(700);
    const first = ticks.next();
    await harness.step(1000);
    expect(await first).toEqual({ done: false, value: start + 1700 });
    await ticks.return?.();
  });

  describe("ends when its signal aborts", () => {
    it.each([
      ["before the start", 0, { ticks: [], end: 0 }],
      ["before the first tick", 500, { ticks: [], end: 500 }],
      ["during a delay", 1700, { ticks: [1000], end: 1700 }],
      ["during a body, after its end", 2200, { ticks: [1000, 2000], end: 2300 }],
    ])("%s", async (_, abortAt, expected) => {
      for (const sliding of [true, false]) {
        for (const reason of REASONS) {
          stop = new AbortController();
          start = harness.clock.monotonic();
          if (abortAt === 0) stop.abort(reason);
          else harness.clock.afterFunc(abortAt, () => stop.abort(reason));
          const bodies = sliding ? [0, 300] : [300];
          const seen = consume(1000, { sliding }, bodies);
          await harness.step(abortAt + 100);
          expect(await seen).toEqual(expected);
          expectNothingLeft();
        }
      }
    });

    it.each(["abort", "timer"])("in the tick of its timer, %s first", async (first) => {
      const armAbort = () => harness.clock.afterFunc(1000, () => stop.abort());
      if (first === "abort") armAbort();
      const seen = consume(1000, {});
      if (first === "timer") armAbort();
      harness.stepSync(1000);
      expect(await seen).toEqual({ ticks: [], end: 1000 });
    });

    it("permanently", async () => {
      const ticks = ticksOf(1000);
      stop.abort();
      const end = { done: true, value: undefined };
      expect([await ticks.next(), await ticks.next()]).toEqual([end, end]);
    });
  });

  describe("ends when the loop is left", () => {
    it.each([true, false])("by break (sliding: %s)", async (sliding) => {
      const left = (async () => {
        for await (const _ of ticksOf(1000, { sliding })) break;
        expectNothingLeft();
        return now();
      })();
      await harness.step(1000);
      expect(await left).toBe(1000);
    });

    it("by an error of its body", async () => {
      const bug = new Error("bug");
      const left = (async () => {
        for await (const _ of ticksOf(1000)) throw bug;
      })();
      const reason = left.catch((error: unknown) => error);
      await harness.step(1000);
      expect(await reason).toBe(bug);
    });

    it("before the first call of next", async () => {
      const ticks = ticksOf(1000, { immediate: true });
      const end = { done: true, value: undefined };
      expect(await ticks.return?.()).toEqual(end);
      expect(await ticks.next()).toEqual(end);
    });

    it("during a pending next, which resolves as done", async () => {
      const ticks = ticksOf(1000);
      const first = ticks.next();
      await harness.step(500);
      const end = { done: true, value: undefined };
      expect(await ticks.return?.()).toEqual(end);
      expect(await first).toEqual(end);
    });

    it("in the tick of its timer", async () => {
      const ticks = ticksOf(1000);
      const first = ticks.next();
      await harness.step(0);
      harness.stepSync(1000);
      const end = { done: true, value: undefined };
      expect([await ticks.return?.(), await first]).toEqual([end, end]);
    });

    it("in the tick of its timer, ignoring an error of random", async () => {
      using uncaught = collectUncaught("unhandledRejection");
      const random = vi.fn((): number => {
        throw new Error("no random number");
      });
      random.mockReturnValueOnce(0);
      const ticks = ticksOf(1000, { jitter: 1, random });
      const first = ticks.next();
      await harness.step(0);
      harness.stepSync(1000);
      const end = { done: true, value: undefined };
      expect([await ticks.return?.(), await first]).toEqual([end, end]);
      await setImmediate();
      expect(random).toHaveBeenCalledTimes(2);
      expect(uncaught.errors).toEqual([]);
    });
  });

  it.each([
    { sliding: false, ticks: [1000, 2000, 3000] },
    { sliding: true, ticks: [1000, 2000, 3000] },
  ])(
    "resolves concurrent calls of next in order (sliding: $sliding)",
    async ({ sliding, ticks }) => {
      const iterator = ticksOf(1000, { sliding });
      const pending = [iterator.next(), iterator.next(), iterator.next()];
      await harness.step(3000);
      const seen = await Promise.all(pending);
      expect(seen.map(({ value }) => (value as number) - start)).toEqual(ticks);
      await iterator.return?.();
    },
  );

  it("rejects next with an error of random, and is then done", async () => {
    const random = () => {
      throw new Error("no random number");
    };
    for (const sliding of [true, false]) {
      const ticks = ticksOf(1000, { jitter: 1, random, sliding });
      const [first, second] = [ticks.next(), ticks.next()];
      await expect(first).rejects.toThrow("no random number");
      expect(await second).toEqual({ done: true, value: undefined });
    }
  });

  it("works without a signal", async () => {
    const ticks = every(1000, { clock: harness.clock });
    const first = ticks.next();
    await harness.step(1000);
    expect((await first).value).toBe(start + 1000);
    await ticks.return?.();
  });
});

it("ticks once for each point of the grid, for any period", () =>
  fc.assert(
    fc.asyncProperty(
      fc.double({ min: 0.001, max: 1e6, noNaN: true }),
      fc.double({ min: 0, max: 1e9, noNaN: true }),
      async (period, origin) => {
        const clock = new FakeClock();
        await clock.step(origin);
        const start = clock.monotonic();
        let ticks = 0;
        await clock.run(
          async () => {
            for await (const tick of every(period, { clock })) {
              // Instants are whole nanoseconds, within the precision of a double.
              const slack = 2e-6 + tick * 2 ** -50;
              expect(Math.abs(tick - start - ++ticks * period)).toBeLessThanOrEqual(slack);
              if (ticks === 50) break;
            }
          },
          { turns: 0 },
        );
      },
    ),
  ));

it("ticks once when a body ends on a point of the grid of a fractional period", async () => {
  const clock = new FakeClock();
  const start = clock.monotonic();
  const ticks: number[] = [];
  await clock.run(async () => {
    for await (const tick of every(1_000 / 30, { clock })) {
      ticks.push(tick - start);
      if (ticks.length === 200) break;
      if (ticks.length % 2 === 1) await clock.sleep(100);
    }
  });
  const gaps = ticks.slice(1).map((tick, index) => tick - (ticks[index] as number));
  // After three periods of work a tick comes at once, and the next a whole period later.
  expect(gaps).toEqual(
    gaps.map((_, index) => expect.closeTo(index % 2 === 0 ? 100 : 1_000 / 30, 5) as number),
  );
});

it.each([
  { naps: 1, periods: 4 },
  { naps: 2, periods: 4 },
  { naps: 20, periods: 7 },
])(
  "ticks once after a body of $naps sleeps of $periods fractional periods",
  async ({ naps, periods }) => {
    const clock = new FakeClock();
    const ticks: number[] = [];
    const period = 1_000 / 30;
    await clock.run(async () => {
      for await (const tick of every(period, { clock })) {
        if (ticks.push(tick) === 60) break;
        if (ticks.length % 2 === 0) continue;
        for (let nap = 0; nap < naps; nap++) await clock.sleep(periods * period);
      }
    });
    // The body ends on a point of the grid, or as many roundings before it as it has sleeps.
    const gaps = ticks.slice(1).map((tick, index) => tick - (ticks[index] as number));
    const wanted = gaps.map((_, index) => (index % 2 === 0 ? naps * periods * period : period));
    expect(gaps).toEqual(wanted.map((gap) => expect.closeTo(gap, 4) as number));
  },
);

it("keeps its period if setTimeout is faked and performance is not", async () => {
  const elapsed = vi.spyOn(performance, "now").mockReturnValue(1234.5);
  const timers = install({ now: 0, toFake: ["setTimeout", "clearTimeout", "Date"] });
  try {
    const seen: number[] = [];
    const watch = async () => {
      for await (const _ of every(100)) if (seen.push(Date.now()) === 5) break;
    };
    const watched = watch();
    await timers.tickAsync(500);
    await watched;
    expect(seen).toEqual([100, 200, 300, 400, 500]);
  } finally {
    timers.uninstall();
    elapsed.mockRestore();
  }
});
