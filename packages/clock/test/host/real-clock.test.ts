import { AsyncLocalStorage } from "node:async_hooks";
import { mock } from "node:test";
import { realClock } from "@holdfast/clock";
import { asScheduler } from "@holdfast/clock/rxjs";
import { install } from "@sinonjs/fake-timers";
import { interval } from "rxjs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { collectGarbage } from "../../../../test/collect-garbage.ts";
import { countTimeouts } from "../count-timeouts.ts";

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Blocks the process. */
function spinUntil(instant: number): void {
  while (performance.now() < instant);
}

let restore: () => void = () => {};
afterEach(() => restore());

describe("realClock over mock.timers of node:test", () => {
  it("fires at the instants of the mock, in the context of the caller", async () => {
    const silenced = vi.spyOn(process, "emitWarning").mockReturnValue(); // an experimental API
    mock.timers.enable({ apis: ["setTimeout", "Date"] });
    restore = () => {
      mock.timers.reset();
      silenced.mockRestore();
    };
    const store = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    store.run("caller", () => {
      realClock.afterFunc(1000, () => seen.push([realClock.now(), store.getStore()]));
    });
    const slept = realClock.sleep(2000).then(() => seen.push("slept"));
    mock.timers.tick(999);
    expect(seen).toEqual([]);
    mock.timers.tick(1);
    mock.timers.tick(1000);
    await slept;
    expect(seen).toEqual([[1000, "caller"], "slept"]);
  });
});

describe("realClock with setTimeout and Date faked and performance real", () => {
  const halfFake = () => {
    const sinon = install({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    restore = () => sinon.uninstall();
    return sinon;
  };

  it.each([1000, 24 * 60 * 60 * 1000, 2 ** 31 + 5])(
    "fires after %d ms of the fake",
    async (delay) => {
      const sinon = halfFake();
      const timer = realClock.newTimer(delay);
      await sinon.tickAsync(delay - 1);
      expect(timer.active).toBe(true);
      await sinon.tickAsync(1);
      expect(timer.active).toBe(false);
    },
  );

  it.each([100, 7.5])(
    "newTicker ticks once per %d ms of the fake, whatever real time passes",
    async (period) => {
      const sinon = halfFake();
      const ticker = realClock.newTicker(period);
      const seen: number[] = [];
      const watch = async () => {
        for await (const _ of ticker) seen.push(Date.now());
      };
      const start = Date.now();
      const watched = watch();
      for (let tick = 0; tick < 20; tick++) {
        spinUntil(performance.now() + tick);
        await sinon.tickAsync(Math.ceil(period));
      }
      ticker.stop();
      await watched;
      const instants = Array.from(
        { length: 20 },
        (_unused, tick) => start + (tick + 1) * Math.ceil(period),
      );
      expect([seen, ticker.dropped]).toEqual([instants, 0]);
    },
  );

  it.each([0, 0.4, 1])(
    "fires %d ms after the next tick of the fake at the latest",
    async (delay) => {
      const sinon = halfFake();
      const timer = realClock.newTimer(delay);
      await sinon.tickAsync(1);
      expect(timer.active).toBe(false);
    },
  );
});

describe("realClock with setTimeout faked and performance hardly moving", () => {
  const HUNDREDS = [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000];

  const fakeButPerformance = () => {
    let elapsed = 1234.567;
    const now = vi.spyOn(performance, "now").mockImplementation(() => {
      elapsed += 0.01;
      return elapsed;
    });
    const sinon = install({ now: 0, toFake: ["setTimeout", "clearTimeout", "Date"] });
    restore = () => {
      sinon.uninstall();
      now.mockRestore();
    };
    return sinon;
  };

  it("ticks once per period of the fake", async () => {
    const sinon = fakeButPerformance();
    const ticker = realClock.newTicker(100);
    const seen: number[] = [];
    const watch = async () => {
      for await (const _ of ticker) seen.push(Date.now());
    };
    const watched = watch();
    await sinon.tickAsync(1000);
    ticker.stop();
    await watched;
    expect([seen, ticker.dropped]).toEqual([HUNDREDS, 0]);
  });

  it("repeats the work of rxjs once per period of the fake", async () => {
    const sinon = fakeButPerformance();
    const seen: number[] = [];
    const ticks = interval(100, asScheduler(realClock)).subscribe(() => seen.push(Date.now()));
    await sinon.tickAsync(1000);
    ticks.unsubscribe();
    expect(seen).toEqual(HUNDREDS);
  });
});

describe("realClock with a setTimeout that returns a number", () => {
  it("sets timers with ref false", () => {
    const original = globalThis.setTimeout;
    restore = () => {
      globalThis.setTimeout = original;
    };
    const wakes: (() => void)[] = [];
    globalThis.setTimeout = ((wake: () => void) => wakes.push(wake)) as never;
    const signal = realClock.timeout(0);
    wakes[0]?.();
    expect([signal.aborted, wakes.length]).toEqual([true, 1]);
  });
});

describe("realClock over the timers of Node", () => {
  it.each([
    { options: {}, keepsAlive: true },
    { options: { ref: true }, keepsAlive: true },
    { options: { ref: false }, keepsAlive: false },
  ])("with $options keeps the process alive: $keepsAlive", ({ options, keepsAlive }) => {
    const setTimeout = vi.spyOn(globalThis, "setTimeout");
    restore = () => setTimeout.mockRestore();
    const timer = realClock.newTimer(60_000, options);
    const handles = setTimeout.mock.results.map(({ value }) => value as NodeJS.Timeout);
    expect(handles.map((handle) => handle.hasRef())).toEqual([keepsAlive]);
    timer.stop();
  });
});

describe("a sleep on realClock", () => {
  it("keeps the process alive unless ref is false", async () => {
    const before = countTimeouts();
    const stop = new AbortController();
    const { signal } = stop;
    const counts: number[] = [];
    const sleeps = [{ ref: false }, {}, { ref: true }].map((options) => {
      const slept = realClock.sleep(60_000, { ...options, signal });
      counts.push(countTimeouts() - before);
      return slept;
    });
    expect(counts).toEqual([0, 1, 2]);
    stop.abort();
    await Promise.allSettled(sleeps);
    expect(countTimeouts()).toBe(before);
  });

  it("ends with ref false while another handle keeps the process alive", async () => {
    const start = performance.now();
    await Promise.all([realClock.sleep(5, { ref: false }), realClock.sleep(10)]);
    expect(performance.now() - start).toBeGreaterThanOrEqual(10);
  });

  it("is one setTimeout", async () => {
    const setTimeout = vi.spyOn(globalThis, "setTimeout");
    restore = () => setTimeout.mockRestore();
    const stop = new AbortController();
    const sleeps = [10, 20, 30].map((delay) => realClock.sleep(delay, { signal: stop.signal }));
    expect(setTimeout.mock.calls.map(([, delay]) => delay)).toEqual([10, 20, 30]);
    stop.abort("enough");
    const ends = await Promise.allSettled(sleeps);
    expect(ends).toEqual([10, 20, 30].map(() => ({ status: "rejected", reason: "enough" })));
  });

  it("can be aborted by the code after another sleep that is due at the same wake-up", async () => {
    const stop = new AbortController();
    const first = realClock.sleep(5).then(() => stop.abort("first is over"));
    const second = realClock.sleep(5.5, { signal: stop.signal });
    spinUntil(performance.now() + 10); // both are due at one wake-up of the event loop
    await first;
    await expect(second).rejects.toBe("first is over");
  });

  it("releases the async context of its caller when it ends", async () => {
    const contexts = new AsyncLocalStorage<object>();
    const stop = new AbortController();
    const context = (() => {
      const store = {};
      contexts.run(store, () => {
        realClock.sleep(60_000, { signal: stop.signal }).catch(() => {});
      });
      return new WeakRef(store);
    })();
    stop.abort();
    await collectGarbage();
    expect(context.deref()).toBe(undefined);
  });
});

describe("realClock under fakes that are installed and removed", () => {
  it("ends sleeps on the timers on which they began", async () => {
    const real = realClock.sleep(5);
    vi.useFakeTimers();
    restore = () => vi.useRealTimers();
    let isOver = false;
    const faked = realClock.sleep(10).then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(9);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isOver).toBe(true);
    vi.useRealTimers();
    await Promise.all([real, faked]);
  });

  it("stops a timer of the machine while setTimeout and clearTimeout are faked", async () => {
    const before = countTimeouts();
    const timer = realClock.newTimer(5);
    const ticker = realClock.newTicker(5);
    const silenced = vi.spyOn(process, "emitWarning").mockReturnValue(); // for timers it did not make
    const sinon = install({ toFake: ["setTimeout", "clearTimeout"] });
    restore = () => {
      sinon.uninstall();
      silenced.mockRestore();
    };
    expect(timer.stop()).toBe(true);
    ticker.stop();
    expect([await timer.fired, countTimeouts()]).toEqual([false, before]);
  });

  it("ends a sleep after performance.now has gone back", async () => {
    const before = realClock.sleep(20);
    const now = vi.spyOn(performance, "now").mockReturnValue(-1e9);
    restore = () => now.mockRestore();
    const during = realClock.sleep(10);
    expect(await Promise.all([before, during])).toEqual([undefined, undefined]);
  });

  it("sleeps after the fake has dropped its timers", async () => {
    vi.useFakeTimers();
    restore = () => vi.useRealTimers();
    void realClock.sleep(10);
    vi.clearAllTimers();
    let isOver = false;
    void realClock.sleep(20).then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(20);
    expect(isOver).toBe(true);
  });
});

describe("realClock after a fake was removed", () => {
  it("follows the machine again", async () => {
    vi.useFakeTimers({ now: 0 });
    expect(realClock.now()).toBe(0);
    vi.useRealTimers();
    expect(realClock.now()).toBeGreaterThan(1e12);
    await realClock.sleep(1);
    await settle();
  });
});
