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

describe("realClock where setTimeout and Date are faked and performance is not", () => {
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

  it.each([0, 0.4, 1])("fires after %d ms and at most 3 more, and does not hang", async (delay) => {
    const sinon = halfFake();
    const timer = realClock.newTimer(delay);
    await sinon.tickAsync(4);
    expect(timer.active).toBe(false);
  });
});

describe("realClock where setTimeout is faked and performance hardly moves", () => {
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

describe("realClock where setTimeout returns a number", () => {
  it("makes timers that need not be told to let the process go", () => {
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
  it("keeps the process alive unless it is told not to", async () => {
    await realClock.sleep(0); // From then on it knows that these timers are the machine's.
    const before = countTimeouts();
    const stop = new AbortController();
    const { signal } = stop;
    const counts: number[] = [];
    const sleeps = [{ ref: false }, {}, { ref: true }].map((options) => {
      const slept = realClock.sleep(60_000, { ...options, signal });
      counts.push(countTimeouts() - before);
      return slept;
    });
    expect(counts).toEqual([0, 1, 1]);
    stop.abort();
    await Promise.allSettled(sleeps);
    expect(countTimeouts()).toBe(before);
  });

  it("that is not to keep the process alive ends all the same", async () => {
    await realClock.sleep(0);
    const start = performance.now();
    await Promise.all([realClock.sleep(5, { ref: false }), realClock.sleep(10)]);
    expect(performance.now() - start).toBeGreaterThanOrEqual(10);
  });

  it("shares one timer of Node with all others", async () => {
    await realClock.sleep(0);
    const setTimeout = vi.spyOn(globalThis, "setTimeout");
    await realClock.sleep(0); // the first of these globals
    const stop = new AbortController();
    const sleeps = Array.from({ length: 100 }, (_, index) =>
      realClock.sleep(60_000 + index, { signal: stop.signal }),
    );
    const count = setTimeout.mock.calls.length;
    setTimeout.mockRestore();
    stop.abort("enough");
    const ends = await Promise.allSettled(sleeps);
    expect([count, new Set(ends.map(({ status }) => status))]).toEqual([2, new Set(["rejected"])]);
  });

  it("keeps nobody's context but its own", async () => {
    await realClock.sleep(0);
    const contexts = new AsyncLocalStorage<object>();
    const begin = (stop: AbortController): WeakRef<object> => {
      const context = {};
      const slept = contexts.run(context, () => realClock.sleep(60_000, { signal: stop.signal }));
      slept.catch(() => {});
      return new WeakRef(context);
    };
    const first = new AbortController();
    const stop = new AbortController();
    // The first one sets the timer, within its context, for all who sleep after it.
    const context = begin(first);
    const kept = realClock.sleep(70_000, { signal: stop.signal }).catch(() => {});
    first.abort();
    await collectGarbage();
    expect(context.deref()).toBe(undefined);
    stop.abort();
    await kept;
  });
});

describe("realClock on globals that it has not seen yet", () => {
  /** Puts another `setTimeout` there, and counts how often it is called. */
  const replace = (timer: typeof setTimeout) => {
    const original = globalThis.setTimeout;
    const replaced = vi.fn(timer);
    globalThis.setTimeout = replaced as never;
    restore = () => {
      globalThis.setTimeout = original;
    };
    return replaced.mock.calls;
  };

  /** Begins sleeps with these options, one after the other, and ends them all. */
  const sleepAll = async (all: readonly { readonly ref?: boolean }[]): Promise<void> => {
    const stop = new AbortController();
    const { signal } = stop;
    const sleeps = all.map((options) => realClock.sleep(60_000, { ...options, signal }));
    stop.abort();
    await Promise.allSettled(sleeps);
  };

  it("looks at the first sleep that keeps the process alive, and shares from then on", async () => {
    const { setTimeout } = globalThis;
    const calls = replace(((wake: () => void, delay: number) => setTimeout(wake, delay)) as never);
    await sleepAll([{ ref: false }, { ref: false }, { ref: true }, {}, {}, { ref: false }, {}]);
    expect(calls.length).toBe(5); // two and one of their own, and one for each kind
  });

  it("shares nothing on timers that are something else underneath", async () => {
    const calls = replace(((wake: () => void) => setImmediate(wake)) as never);
    const { clearTimeout } = globalThis;
    globalThis.clearTimeout = clearImmediate as never;
    await sleepAll([{}, {}, {}]);
    globalThis.clearTimeout = clearTimeout;
    expect(calls.length).toBe(3);
  });

  it("shares nothing where the machine does not say what it has", async () => {
    const { setTimeout } = globalThis;
    const calls = replace(((wake: () => void, delay: number) => setTimeout(wake, delay)) as never);
    const { getActiveResourcesInfo } = process;
    Object.assign(process, { getActiveResourcesInfo: undefined });
    await sleepAll([{}, {}, {}]);
    Object.assign(process, { getActiveResourcesInfo });
    expect(calls.length).toBe(3);
  });

  it("looks once, whatever it sees", async () => {
    const sinon = install({ toFake: ["setTimeout", "clearTimeout"] });
    const look = vi.spyOn(process, "getActiveResourcesInfo");
    restore = () => {
      look.mockRestore();
      sinon.uninstall();
    };
    await sleepAll([{}, {}, {}]);
    expect(look).toHaveBeenCalledTimes(2); // before and after
  });

  it("measures by another performance as soon as there is one", async () => {
    await sleepAll([{}, {}]);
    const { performance } = globalThis;
    const now = vi.fn(() => performance.now());
    vi.stubGlobal("performance", { now });
    restore = () => vi.unstubAllGlobals();
    await sleepAll([{}, {}]);
    expect(now).toHaveBeenCalledTimes(2); // for each sleep
  });

  it("shares nothing while performance.now is another, and does again after it", async () => {
    const calls = replace(globalThis.setTimeout);
    const now = vi.spyOn(performance, "now").mockReturnValue(0);
    await sleepAll([{}, {}, {}]);
    const spied = calls.length;
    now.mockRestore();
    await sleepAll([{}, {}, {}]);
    expect([spied, calls.length]).toEqual([3, 3 + 2]); // to look, and to share
  });
});

describe("realClock under fakes that come and go", () => {
  it("lets go on with the machine what began there, and with the fake what began on it", async () => {
    await realClock.sleep(0);
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

  it("stops under a fake what began on the machine, and leaves nothing there", async () => {
    const before = countTimeouts();
    const timer = realClock.newTimer(5);
    const ticker = realClock.newTicker(5);
    const silenced = vi.spyOn(process, "emitWarning").mockReturnValue(); // it does not know them
    const sinon = install({ toFake: ["setTimeout", "clearTimeout"] });
    restore = () => {
      sinon.uninstall();
      silenced.mockRestore();
    };
    expect(timer.stop()).toBe(true);
    ticker.stop();
    expect([await timer.fired, countTimeouts()]).toEqual([false, before]);
  });

  it("sleeps no longer where performance.now has gone back", async () => {
    await realClock.sleep(0);
    const before = realClock.sleep(20);
    const now = vi.spyOn(performance, "now").mockReturnValue(-1e9);
    restore = () => now.mockRestore();
    const during = realClock.sleep(10);
    expect(await Promise.all([before, during])).toEqual([undefined, undefined]);
  });

  it("is not lost with the timers that a fake is told to forget", async () => {
    vi.useFakeTimers();
    restore = () => vi.useRealTimers();
    void realClock.sleep(10);
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

describe("realClock after a fake has gone", () => {
  it("is real again", async () => {
    vi.useFakeTimers({ now: 0 });
    expect(realClock.now()).toBe(0);
    vi.useRealTimers();
    expect(realClock.now()).toBeGreaterThan(1e12);
    await realClock.sleep(1);
    await settle();
  });
});
