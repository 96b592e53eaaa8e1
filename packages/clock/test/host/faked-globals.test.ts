import { mock } from "node:test";
import { setImmediate as immediate } from "node:timers/promises";
import { realClock } from "@holdfast/clock";
import { asScheduler } from "@holdfast/clock/rxjs";
import { FakeClock } from "@holdfast/clock/testing";
import { install } from "@sinonjs/fake-timers";
import { interval } from "rxjs";
import { describe, expect, it, vi } from "vitest";

/** A way to fake globals: all that `realClock` reads, or timers and `Date` alone. */
interface Fakes {
  readonly name: string;
  install(): { tick(duration: number): unknown; uninstall(): unknown };
}

function byNodeTest(apis: NonNullable<Parameters<typeof mock.timers.enable>[0]>["apis"]) {
  mock.timers.enable({ apis });
  return { tick: (ms: number) => mock.timers.tick(ms), uninstall: () => mock.timers.reset() };
}

function byVitest(toFake?: ("setTimeout" | "clearTimeout" | "Date")[]) {
  vi.useFakeTimers(toFake && { toFake });
  return { tick: (ms: number) => vi.advanceTimersByTime(ms), uninstall: () => vi.useRealTimers() };
}

const everything: Fakes[] = [
  {
    name: "@sinonjs/fake-timers",
    install: () => install({ toNotFake: ["nextTick", "queueMicrotask"] }),
  },
  { name: "vi.useFakeTimers()", install: () => byVitest() },
];

const timersAlone: Fakes[] = [
  {
    name: "@sinonjs/fake-timers",
    install: () => install({ toFake: ["setTimeout", "clearTimeout", "Date"] }),
  },
  {
    name: "vi.useFakeTimers()",
    install: () => byVitest(["setTimeout", "clearTimeout", "Date"]),
  },
  { name: "mock.timers of node:test", install: () => byNodeTest(["setTimeout", "Date"]) },
];

/** Blocks the process. */
function spinUntil(instant: number): void {
  while (performance.now() < instant);
}

const MONTH = 30 * 24 * 60 * 60 * 1000;

describe.each(everything)("realClock over $name", (library) => {
  it("follows its time, to the millisecond and beyond 2^31-1", async () => {
    const fakes = library.install();
    try {
      const [now, start] = [realClock.now(), realClock.monotonic()];
      const timers = [realClock.newTimer(10), realClock.newTimer(MONTH)];
      fakes.tick(9);
      expect(timers.map(({ active }) => active)).toEqual([true, true]);
      fakes.tick(1);
      expect(timers.map(({ active }) => active)).toEqual([false, true]);
      fakes.tick(MONTH - 11);
      expect(timers.map(({ active }) => active)).toEqual([false, true]);
      fakes.tick(1);
      expect(timers.map(({ active }) => active)).toEqual([false, false]);
      expect([realClock.now() - now, realClock.monotonic() - start]).toEqual([MONTH, MONTH]);
    } finally {
      fakes.uninstall();
    }
  });
});

describe.each(timersAlone)("realClock over $name without performance", (library) => {
  it("fires with the faked timers, even if little real time has passed", () => {
    const fakes = library.install();
    try {
      const start = realClock.now();
      const fired: number[] = [];
      // Longer than the machine may stand still meanwhile.
      for (const delay of [600_000, 3_600_000])
        realClock.afterFunc(delay, () => fired.push(realClock.now() - start));
      fakes.tick(599_999);
      expect(fired).toEqual([]);
      fakes.tick(1);
      expect(fired).toEqual([600_000]);
      fakes.tick(3_000_000);
      expect(fired).toEqual([600_000, 3_600_000]);
    } finally {
      fakes.uninstall();
    }
  });

  it.each([0, 0.5, 1, 5, 19.2, 19.9, 20, 25])(
    "ends after tick(20) when %d ms of real time have passed",
    (passed) => {
      const fakes = library.install();
      try {
        const timer = realClock.newTimer(20);
        spinUntil(timer.deadline - 20 + passed);
        fakes.tick(19);
        expect(timer.active).toBe(true);
        fakes.tick(1);
        expect(timer.active).toBe(false);
      } finally {
        fakes.uninstall();
      }
    },
  );

  it.each([0, 0.5, 5, 9.9, 13, 25])(
    "ticks every 10 ms of the fake when %d ms of real time pass in each",
    async (passed) => {
      const fakes = library.install();
      try {
        const ticker = realClock.newTicker(10);
        let ticks = 0;
        for (let count = 1; count <= 3; count++) {
          void ticker.next().then(() => ticks++);
          spinUntil(performance.now() + passed);
          fakes.tick(9);
          await Promise.resolve();
          expect(ticks).toBe(count - 1);
          fakes.tick(1);
          await Promise.resolve();
          expect(ticks).toBe(count);
        }
        expect(ticker.dropped).toBe(0);
        ticker.stop();
      } finally {
        fakes.uninstall();
      }
    },
  );

  it("repeats work of rxjs every 10 ms of the fake when 13 ms of real time pass in each", () => {
    const fakes = library.install();
    try {
      let values = 0;
      const subscription = interval(10, asScheduler(realClock)).subscribe(() => values++);
      for (let count = 1; count <= 3; count++) {
        spinUntil(performance.now() + 13);
        fakes.tick(9);
        expect(values).toBe(count - 1);
        fakes.tick(1);
        expect(values).toBe(count);
      }
      subscription.unsubscribe();
    } finally {
      fakes.uninstall();
    }
  });

  it("rounds a fraction up to the next tick", () => {
    const fakes = library.install();
    try {
      const timers = [realClock.newTimer(0.5), realClock.newTimer(1)];
      fakes.tick(1);
      expect(timers.map(({ active }) => active)).toEqual([false, false]);
    } finally {
      fakes.uninstall();
    }
  });

  it("follows the machine again after the fake", async () => {
    library.install().uninstall();
    const start = performance.now();
    await realClock.sleep(5);
    expect(performance.now() - start).toBeGreaterThanOrEqual(5);
    expect(Math.abs(realClock.now() - Date.now())).toBeLessThan(1_000);
  });
});

describe("FakeClock", () => {
  it.each(everything)("runs while $name fakes immediates and timers", async (library) => {
    const fakes = library.install();
    const clock = new FakeClock();
    const start = clock.now();
    try {
      await clock.run(async () => {
        await clock.sleep(1_000);
        await clock.external(immediate());
        await clock.sleep(1_000);
      });
      await clock.step(500);
      expect(clock.now() - start).toBe(2_500);
      const stuck = clock.run(() => new Promise(() => {}), { stallMs: 5 });
      await expect(stuck).rejects.toThrow("run() is stuck");
    } finally {
      fakes.uninstall();
    }
  });
});
