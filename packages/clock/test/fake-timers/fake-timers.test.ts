import { AsyncLocalStorage } from "node:async_hooks";
import { getEventListeners } from "node:events";
import { readFile } from "node:fs/promises";
import { setImmediate as immediate } from "node:timers/promises";
import { realClock } from "@holdfast/clock";
import { fromFakeTimers } from "@holdfast/clock/fake-timers";
import { DeadlockError, LivelockError, type TestClock } from "@holdfast/clock/testing";
import { createClock, install } from "@sinonjs/fake-timers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const NEVER = Number.POSITIVE_INFINITY;
const START = Date.UTC(2020, 0, 1);

/** A library that fakes the globals, and its own ways to move the wall clock and the time. */
interface Library {
  readonly name: string;
  install(): void;
  uninstall(): void;
  setSystemTime(instant: number): void;
  tick(duration: number): void;
}

let installed: ReturnType<typeof install> | undefined;

const libraries: Library[] = [
  {
    name: "@sinonjs/fake-timers",
    install() {
      installed = install({ now: START, toNotFake: ["nextTick", "queueMicrotask"] });
    },
    uninstall: () => installed?.uninstall(),
    setSystemTime: (instant) => installed?.setSystemTime(instant),
    tick: (duration) => installed?.tick(duration),
  },
  {
    name: "vi.useFakeTimers()",
    install: () => vi.useFakeTimers({ now: START }),
    uninstall: () => vi.useRealTimers(),
    setSystemTime: (instant) => vi.setSystemTime(instant),
    tick: (duration) => vi.advanceTimersByTime(duration),
  },
];

describe.each(libraries)("fromFakeTimers over $name", (library) => {
  let clock: TestClock;
  let events: [number, unknown][];
  const note = (event: unknown): void => {
    events.push([Date.now() - START, event]);
  };

  beforeEach(() => {
    library.install();
    clock = fromFakeTimers();
    events = [];
  });

  afterEach(() => library.uninstall());

  it("runs global timers, sleeps and real I/O on one timeline", async () => {
    const text = await clock.run(async () => {
      setTimeout(() => note("global timer"), 1_500);
      await clock.sleep(1_000);
      note("sleep");
      await clock.sleep(500);
      note("second sleep");
      const read = await clock.external(readFile(import.meta.filename, "utf8"));
      note("file");
      await clock.sleep(500);
      note("third sleep");
      return read;
    });
    expect(text).toContain("one time line");
    expect(events).toEqual([
      [1_000, "sleep"],
      [1_500, "global timer"],
      [1_500, "second sleep"],
      [1_500, "file"],
      [2_000, "third sleep"],
    ]);
  });

  it("reads the wall clock of the library and a monotonic clock that starts elsewhere", async () => {
    const start = clock.monotonic();
    expect(clock.now()).toBe(START);
    await clock.step(250);
    expect([clock.now(), clock.monotonic() - start]).toEqual([START + 250, 250]);
  });

  describe("step", () => {
    it("fires the timers due by its end, the end included, and lets promises run in between", async () => {
      setTimeout(() => {
        note("global");
        void Promise.resolve().then(() => setTimeout(() => note("global, from a promise"), 5));
      }, 10);
      void clock.sleep(12).then(() => note("sleep"));
      clock.afterFunc(20, () => note("at the end"));
      clock.afterFunc(21, () => note("too late"));
      await clock.step(20);
      expect(events).toEqual([
        [10, "global"],
        [12, "sleep"],
        [15, "global, from a promise"],
        [20, "at the end"],
      ]);
      expect(Date.now() - START).toBe(20);
    });

    it("fires timers at its end that were armed during the step", async () => {
      setTimeout(() => setTimeout(() => note("global"), 10), 10);
      void clock
        .sleep(10)
        .then(() => clock.sleep(10))
        .then(() => note("sleep"));
      await clock.step(20);
      expect(events).toEqual([
        [20, "global"],
        [20, "sleep"],
      ]);
    });

    it("of 0 fires the timers that are due and does not move time", async () => {
      setTimeout(() => note("global"), 0);
      clock.afterFunc(-5, () => note("clock"));
      clock.afterFunc(1, () => note("too late"));
      await clock.step(0);
      expect(events).toEqual([
        [0, "global"],
        [0, "clock"],
      ]);
    });

    it("fires at the same instant the timers that a callback arms for now", async () => {
      clock.afterFunc(10, () => {
        note("first");
        setTimeout(() => note("global"), 0);
        clock.afterFunc(0, () => note("second"));
      });
      await clock.step(10);
      expect(events).toEqual([
        [10, "first"],
        [10, "global"],
        [10, "second"],
      ]);
    });

    it("by fractions adds up, and rounds deadlines up to whole milliseconds", async () => {
      const start = clock.monotonic();
      clock.afterFunc(1, () => note("1"));
      clock.afterFunc(1.2, () => note("1.2"));
      for (let times = 0; times < 9; times++) await clock.step(0.1);
      expect([events, clock.monotonic() - start]).toEqual([[], 0.9]);
      await clock.step(0.1);
      expect(events).toEqual([[1, "1"]]);
      await clock.step(0.3);
      clock.afterFunc(0.7, () => note("0.7 after 1.3"));
      clock.afterFunc(1, () => note("1 after 1.3"));
      setTimeout(() => note("3"), 2);
      await clock.step(1.7);
      expect(clock.monotonic() - start).toBe(3);
      expect(events.slice(1)).toEqual([
        [2, "1.2"],
        [2, "0.7 after 1.3"],
        [3, "1 after 1.3"],
        [3, "3"],
      ]);
    });

    it("moves time by a year and fires the timers armed meanwhile", async () => {
      const day = 24 * 60 * 60 * 1000;
      void new Promise<void>((resolve) => {
        setTimeout(resolve, 20 * day);
      })
        .then(() => clock.sleep(200 * day))
        .then(() => note("within"));
      await clock.step(365 * day);
      expect([events, clock.now()]).toEqual([[[220 * day, "within"]], START + 365 * day]);
    });

    it("rejects with the error of a callback, and later timers stay armed", async () => {
      const thrown = new Error("global");
      setTimeout(() => {
        throw thrown;
      }, 10);
      clock.afterFunc(10, () => note("later"));
      await expect(clock.step(20)).rejects.toBe(thrown);
      expect([events, Date.now() - START]).toEqual([[], 10]);
      await clock.step(10);
      expect(events).toEqual([[10, "later"]]);
    });

    it("waits while time is held", async () => {
      const hold = clock.hold();
      const stepped = clock.step(10).then(() => note("stepped"));
      await immediate();
      expect(Date.now()).toBe(START);
      hold[Symbol.dispose]();
      await stepped;
      expect(events).toEqual([[10, "stepped"]]);
    });
  });

  describe("stepSync", () => {
    it("fires timers without letting promises run", async () => {
      setTimeout(() => note("global"), 10);
      void clock.sleep(10).then(() => note("sleep"));
      clock.stepSync(20);
      expect(events).toEqual([[10, "global"]]);
      await immediate();
      expect(events.slice(1)).toEqual([[20, "sleep"]]);
    });

    it("fires at its end the timers that callbacks arm for now, and no later ones", () => {
      clock.afterFunc(10, () => clock.afterFunc(0, () => note("second")));
      clock.afterFunc(11, () => note("too late"));
      clock.stepSync(10);
      expect(events).toEqual([[10, "second"]]);
    });
  });

  describe("setTime and setSystemTime", () => {
    it("step to an instant of the wall clock", async () => {
      clock.afterFunc(1_000, () => note("fired"));
      await clock.setTime(START + 1_000);
      expect(events).toEqual([[1_000, "fired"]]);
      await expect(clock.setTime(START)).rejects.toThrow(RangeError);
    });

    it.each([START + 3_600_000, START - 3_600_000, 0])(
      "set the wall clock to %d and nothing else",
      async (instant) => {
        const start = clock.monotonic();
        const timer = clock.newTimer(10);
        clock.setSystemTime(instant);
        expect([clock.now(), Date.now(), clock.monotonic()]).toEqual([instant, instant, start]);
        await clock.step(9);
        expect(timer.active).toBe(true);
        await clock.step(1);
        expect([timer.active, clock.now(), clock.monotonic() - start]).toEqual([
          false,
          instant + 10,
          10,
        ]);
      },
    );

    it("do not move monotonic() when the library does it, not even after a fraction", async () => {
      await clock.step(5);
      library.tick(0.5);
      const start = clock.monotonic();
      library.setSystemTime(0);
      expect(clock.monotonic()).toBe(start);
      const timer = clock.newTimer(10);
      await clock.step(12);
      expect([timer.active, clock.monotonic() - start]).toEqual([false, 12]);
    });

    it("do not move monotonic() when the library has gone back by 2 ms", () => {
      const seen: number[] = [];
      for (let times = 0; times < 3; times++) {
        library.tick(0.5);
        seen.push(clock.monotonic());
        library.setSystemTime(START);
        seen.push(clock.monotonic());
      }
      expect(seen).toEqual(Array(6).fill(0.5));
      expect(performance.now()).toBe(-1.5);
    });
  });

  describe("run", () => {
    it("rejects with the error of the function", async () => {
      const thrown = new Error("inside");
      const failed = clock.run(async () => {
        await clock.sleep(10);
        throw thrown;
      });
      await expect(failed).rejects.toBe(thrown);
    });

    it("continues when real I/O arms a global timer, which the library does not announce", async () => {
      await clock.run(async () => {
        await readFile(import.meta.filename);
        await new Promise<void>((resolve) => {
          setTimeout(resolve, 10);
        });
        note("done");
      });
      expect(events).toEqual([[10, "done"]]);
    });

    it("reports a deadlock: endless timers cannot fire", async () => {
      const never = clock.sleep(NEVER, { label: "endless" });
      const error = await clock.run(() => never, { stallMs: 20 }).catch((reason) => reason);
      expect(error).toBeInstanceOf(DeadlockError);
      expect(error.message).toContain("timers armed: endless @Infinity");
    });

    it("reports the holds and the armed timers", async () => {
      setTimeout(() => {}, 10);
      const stuck = clock.run(() => clock.external(clock.sleep(10, { label: "ours" }), "fetch"), {
        externalMs: 20,
      });
      const error = await stuck.catch((reason) => reason);
      expect(error).toBeInstanceOf(DeadlockError);
      expect(error.facts.holds).toEqual(["fetch"]);
      expect(error.message).toContain("timers armed: ours @10, global timer @?");
    });

    it("ends an interval that exceeds maxTimers", async () => {
      setInterval(() => {}, 1_000);
      const endless = clock.run<void>(() => new Promise(() => {}), { maxTimers: 10 });
      const error = await endless.catch((reason) => reason);
      expect(error).toBeInstanceOf(LivelockError);
      expect([error.fired, error.last]).toEqual([11, "global timer"]);
    });

    it("refuses a second method while it runs", async () => {
      await clock.run(async () => {
        expect(() => clock.stepSync(1)).toThrow("stepSync() cannot move a clock that run()");
        await expect(clock.step(1)).rejects.toThrow("step() cannot move a clock that run()");
      });
    });
  });

  describe("waiters", () => {
    it("count the timers of the globals, too, and endless ones", async () => {
      const timers = [clock.newTimer(10), clock.newTimer(NEVER), clock.newTicker(5)];
      const handle = setInterval(() => {}, 10);
      setTimeout(() => note(clock.waiters()), 7);
      expect(clock.waiters()).toBe(5);
      await clock.step(7);
      expect(events).toEqual([[7, 4]]);
      for (const timer of timers) timer.stop();
      expect([clock.waiters(), clock.hasWaiters()]).toEqual([1, true]);
      clearInterval(handle);
      expect([clock.waiters(), clock.hasWaiters()]).toEqual([0, false]);
    });

    it("show in firing order, those of the globals last", () => {
      const start = clock.monotonic();
      setTimeout(() => {}, 1);
      clock.newTimer(NEVER, { ref: false });
      clock.newTimer(20, { label: "late" });
      clock.newTimer(10, { label: "early" });
      clock.newTimer(20, { label: "later" });
      expect(clock.pending()).toEqual([
        { label: "early", deadline: start + 10, ref: true },
        { label: "late", deadline: start + 20, ref: true },
        { label: "later", deadline: start + 20, ref: true },
        { label: undefined, deadline: NEVER, ref: false },
        { label: "global timer", deadline: Number.NaN, ref: true },
      ]);
    });

    it("are counted by waitForWaiters, armed by the clock or through globals", async () => {
      await clock.waitForWaiters(0);
      const waiting = clock.waitForWaiters(2).then(() => note("two"));
      setTimeout(() => {}, 10);
      await immediate();
      expect(events).toEqual([]);
      setTimeout(() => {}, 10);
      await waiting;
      expect(events).toEqual([[0, "two"]]);
    });

    it("are waited for until the signal aborts", async () => {
      const stop = new AbortController();
      const waiting = clock.waitForWaiters(1, { signal: stop.signal });
      stop.abort("enough");
      await expect(waiting).rejects.toBe("enough");
    });

    it("are stopped with the clock, except those of the globals", () => {
      clock.newTimer(10);
      clock.newTimer(NEVER);
      setTimeout(() => {}, 10);
      clock[Symbol.dispose]();
      expect(clock.pending()).toEqual([{ label: "global timer", deadline: Number.NaN, ref: true }]);
    });
  });

  it("keeps the AsyncLocalStorage context of afterFunc and of sleep", async () => {
    const store = new AsyncLocalStorage<string>();
    store.run("caller", () => {
      clock.afterFunc(10, () => note(store.getStore()));
      void clock.sleep(10).then(() => note(store.getStore()));
    });
    await store.run("driver", () => clock.step(10));
    expect(events).toEqual([
      [10, "caller"],
      [10, "caller"],
    ]);
  });

  it("follows the library when the test moves it, even inside a callback", async () => {
    clock.afterFunc(10, () => note("ten"));
    library.tick(10);
    setTimeout(() => {
      library.tick(10);
      note("back");
    }, 5);
    clock.afterFunc(10, () => note("twenty"));
    clock.afterFunc(12, () => note("twenty-two"));
    await clock.step(10);
    expect(events.map(([, event]) => event)).toEqual(["ten", "twenty", "twenty-two", "back"]);
  });

  it("stops a timer in the callback of another while the test moves the library", async () => {
    setTimeout(() => library.tick(10), 5);
    clock.afterFunc(10, () => note(victim.stop()));
    const victim = clock.afterFunc(12, () => note("fired"));
    await clock.step(20);
    expect(events).toEqual([[12, true]]);
  });

  it("stops a timer that came due while a callback moved the library", async () => {
    setTimeout(() => {
      library.tick(10);
      note(timer.stop());
    }, 5);
    const timer = clock.afterFunc(10, () => note("fired"));
    await clock.step(20);
    expect(events).toEqual([[15, true]]);
  });
});

describe("fromFakeTimers", () => {
  it("starts from 0 with a library that is reset", async () => {
    const fake = createClock();
    const clock = fromFakeTimers(fake);
    await clock.step(1_000);
    fake.reset();
    expect(clock.monotonic()).toBe(0);
    const timer = clock.newTimer(10);
    expect(timer.deadline).toBe(10);
    await clock.step(9);
    expect(timer.active).toBe(true);
    await clock.step(1);
    expect([timer.active, clock.monotonic()]).toEqual([false, 10]);
  });

  it("drops the timers that a reset of the library dropped", async () => {
    const fake = createClock();
    const clock = fromFakeTimers(fake);
    await clock.step(1_000);
    const dropped = [clock.newTimer(10), clock.newTimer(Number.POSITIVE_INFINITY)];
    fake.reset();
    clock.newTimer(20);
    expect(dropped.map(({ active }) => active)).toEqual([false, false]);
    expect(clock.pending().map(({ deadline }) => deadline)).toEqual([20]);
    expect(clock.waiters()).toBe(1);
  });

  it("fires a delay of 0 that a callback of a global timer arms 1 ms later", async () => {
    const fake = createClock(0);
    const clock = fromFakeTimers(fake);
    const seen: unknown[] = [];
    fake.setTimeout(() => clock.afterFunc(0, () => seen.push([fake.now, "armed by theirs"])), 7);
    clock.afterFunc(9, () => clock.afterFunc(0, () => seen.push([fake.now, "armed by ours"])));
    await clock.step(10);
    expect(seen).toEqual([
      [8, "armed by theirs"],
      [9, "armed by ours"],
    ]);
  });

  it("arms no marker in the library during run", async () => {
    const fake = createClock();
    const clock = fromFakeTimers(fake);
    const counts: number[] = [];
    for (const delay of [10, 20, 30]) fake.setTimeout(() => counts.push(fake.countTimers()), delay);
    await clock.run(() => clock.sleep(40));
    expect(counts).toEqual([3, 2, 1]);
  });

  it("rejects with a LivelockError when a loop of faked microtasks exceeds maxTimers", async () => {
    const fake = createClock();
    const clock = fromFakeTimers(fake);
    const endless = clock.run(
      async () => {
        fake.setTimeout(() => {}, 10);
        for (;;) await new Promise<void>((resolve) => fake.nextTick(() => resolve()));
      },
      { maxTimers: 10 },
    );
    const error = await endless.catch((reason) => reason);
    expect(error).toBeInstanceOf(LivelockError);
    expect([error.fired, error.last]).toEqual([11, "faked microtasks"]);
  });

  it("holds time for faked microtasks and everything they cause", async () => {
    const fake = install();
    const clock = fromFakeTimers();
    let hops = 0;
    let hopsAtTimer: number | undefined;
    try {
      await clock.run(async () => {
        setTimeout(() => {
          hopsAtTimer = hops;
        }, 10);
        for (; hops < 50; hops += 2) {
          await new Promise<void>((resolve) => process.nextTick(resolve));
          await new Promise<void>((resolve) => queueMicrotask(resolve));
        }
        await clock.sleep(20);
      });
    } finally {
      fake.runMicrotasks(); // the test runner's, too
      fake.uninstall();
    }
    expect(hopsAtTimer).toBe(50);
  });

  it("holds time for the effects of faked microtasks that each arm a timer", async () => {
    const fake = createClock(0);
    const clock = fromFakeTimers(fake);
    const seen: unknown[] = [];
    await clock.run(async () => {
      fake.nextTick(() => {
        fake.setTimeout(() => seen.push([fake.now, "armed by the microtask"]), 10);
        void Promise.resolve().then(() => {
          fake.setTimeout(() => seen.push([fake.now, "armed by the effect"]), 5);
        });
      });
      await clock.sleep(20);
    });
    expect(seen).toEqual([
      [5, "armed by the effect"],
      [10, "armed by the microtask"],
    ]);
  });

  it("holds time for the effects of a faked microtask that the library does not report", async () => {
    const fake = createClock(0);
    const silent = new Proxy(fake, {
      get: (target, name) => (name === "jobs" ? undefined : (Reflect.get(target, name) as unknown)),
    });
    const clock = fromFakeTimers(silent);
    const seen: unknown[] = [];
    await clock.run(async () => {
      fake.setTimeout(() => seen.push([fake.now, "armed before"]), 10);
      fake.nextTick(() => {
        void Promise.resolve().then(() => {
          fake.setTimeout(() => seen.push([fake.now, "armed by the effect"]), 5);
        });
      });
      await clock.sleep(20);
    });
    expect(seen).toEqual([
      [5, "armed by the effect"],
      [10, "armed before"],
    ]);
  });

  it("ends a loop that sleeps 0, and names its timer", async () => {
    const clock = fromFakeTimers(createClock());
    const spin = clock.run(
      async () => {
        for (;;) await clock.sleep(0, { label: "spinner" });
      },
      { turns: 0 },
    );
    const error = await spin.catch((reason) => reason);
    expect(error).toBeInstanceOf(LivelockError);
    expect(error.message).toContain("without time moving; the last timer to fire: spinner");
  });

  it("polls for global timers only while waitForWaiters is pending", async () => {
    const fake = createClock();
    const countTimers = vi.spyOn(fake, "countTimers");
    const clock = fromFakeTimers(fake);
    const { signal } = new AbortController();
    const waiting = Promise.all([clock.waitForWaiters(1), clock.waitForWaiters(1, { signal })]);
    await realClock.sleep(5);
    expect(countTimers.mock.calls.length).toBeGreaterThan(2);
    fake.setTimeout(() => {}, 10);
    await waiting;
    countTimers.mockClear();
    await realClock.sleep(5);
    expect(countTimers).not.toHaveBeenCalled();
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("polls for global timers until the last waitForWaiters resolves", async () => {
    const fake = createClock();
    const clock = fromFakeTimers(fake);
    const two = clock.waitForWaiters(2);
    const one = clock.waitForWaiters(1);
    fake.setTimeout(() => {}, 10);
    await one;
    fake.setTimeout(() => {}, 10);
    await two;
    expect(clock.waiters()).toBe(2);
  });

  it.each([
    { what: "real timers", clock: undefined },
    { what: "the fake timers of Bun, which mark themselves with true", clock: true },
    { what: "a mark of another library", clock: null },
  ])("throws, and names the fix, for $what", ({ clock }) => {
    const marked = Object.assign((...args: Parameters<typeof setTimeout>) => setTimeout(...args), {
      clock,
    });
    vi.stubGlobal("setTimeout", marked);
    try {
      expect(() => fromFakeTimers()).toThrow(
        new TypeError(
          "no fake timers of @sinonjs/fake-timers are installed: call its install(), vi.useFakeTimers() of vitest or jest.useFakeTimers() of jest before fromFakeTimers(), or pass it a clock",
        ),
      );
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it("refuses a value that is not a clock of the library", () => {
    expect(() => fromFakeTimers({} as never)).toThrow(
      new TypeError("clock must have a method setTimeout(), got [object Object]"),
    );
  });
});
