import { AsyncLocalStorage } from "node:async_hooks";
import { realClock } from "@holdfast/clock";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { collectUncaught } from "../../../../test/uncaught.ts";
import { countTimeouts } from "../count-timeouts.ts";

// Bounds are one-sided: a machine may be slow.

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Keeps the process busy, so that the next timer starts in the middle of a millisecond. */
function spin(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe("a timer of realClock", () => {
  it("is never early, in 10,000 samples", async () => {
    const early: [delay: number, elapsed: number][] = [];
    const sleeps: Promise<void>[] = [];
    for (let index = 0; index < 10_000; index++) {
      const delay = 0.1 + Math.random() * 19.9;
      const start = realClock.monotonic();
      const slept = realClock.sleep(delay).then(() => {
        const elapsed = realClock.monotonic() - start;
        if (elapsed < delay) early.push([delay, elapsed]);
      });
      sleeps.push(slept);
      spin(Math.random() * 0.04);
      if (index % 20 === 0) await nextTurn();
    }
    await Promise.all(sleeps);
    expect(early).toEqual([]);
  });

  it("waits at least 1.9 ms for 1.9 ms, and for 0 until all microtasks have run", async () => {
    const order: string[] = [];
    const start = realClock.monotonic();
    const zero = realClock.sleep(0).then(() => order.push("0 ms"));
    let microtasks = 0;
    const next = (): void => {
      if (++microtasks < 1_000) queueMicrotask(next);
      else order.push("1,000 microtasks");
    };
    next();
    await zero;
    expect(order).toEqual(["1,000 microtasks", "0 ms"]);
    await realClock.sleep(1.9);
    expect(realClock.monotonic() - start).toBeGreaterThanOrEqual(1.9);
  });

  it("of more than 2^31-1 ms does not fire at once, and prints no warning", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on("warning", onWarning);
    const year = 365 * 24 * 60 * 60 * 1000;
    const timers = [2 ** 31, 2 ** 32 + 5, year, 1e12, Number.POSITIVE_INFINITY].map((delay) =>
      realClock.newTimer(delay),
    );
    await realClock.sleep(50);
    process.off("warning", onWarning);
    expect(timers.map((timer) => timer.stop())).toEqual([true, true, true, true, true]);
    expect(warnings).toEqual([]);
  });

  it("fires in the order of deadlines", async () => {
    const deadlines: number[] = [];
    const timers = [40, 20, 30, 10].map((delay) => realClock.newTimer(delay));
    await Promise.all(
      timers.map((timer) => timer.fired.then(() => deadlines.push(timer.deadline))),
    );
    // Not the order of delays: a machine may stand still between two timers. Node rounds to milliseconds.
    const overtaken = deadlines.filter((deadline, index) =>
      deadlines.slice(index).some((later) => later < deadline - 3),
    );
    expect(overtaken).toEqual([]);
  });

  it("keeps the process alive unless ref is false", () => {
    const before = countTimeouts();
    const timers = [{}, { ref: true }, { ref: false }].map((options) =>
      realClock.newTimer(60_000, options),
    );
    expect(countTimeouts() - before).toBe(2);
    for (const timer of timers) timer.reset(50_000);
    expect(countTimeouts() - before).toBe(2);
    for (const timer of timers) timer.stop();
    expect(countTimeouts()).toBe(before);
  });

  it("leaves the error of its callback uncaught, and fires other timers", async () => {
    const uncaught = collectUncaught();
    const error = new Error("thrown");
    const timer = realClock.afterFunc(1, () => {
      throw error;
    });
    await realClock.sleep(3);
    uncaught[Symbol.dispose]();
    expect(uncaught.errors).toEqual([error]);
    expect(await timer.fired).toBe(true);
  });

  it("keeps the context of its caller, also after a reset in another", async () => {
    const store = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const timer = store.run("caller", () =>
      realClock.afterFunc(1, () => seen.push(store.getStore())),
    );
    await timer.fired;
    await store.run("resetter", () => {
      timer.reset(1);
      return timer.fired;
    });
    expect(seen).toEqual(["caller", "caller"]);
  });
});

describe("realClock", () => {
  it("reads the clocks of the machine", () => {
    expect(Math.abs(realClock.now() - Date.now())).toBeLessThan(1000);
    const first = performance.now();
    const second = realClock.monotonic();
    expect(first <= second && second <= performance.now()).toBe(true);
  });

  it("ends a sleep when its signal aborts, long before its deadline", async () => {
    const stop = new AbortController();
    const start = realClock.monotonic();
    setTimeout(() => stop.abort("enough"), 5);
    await expect(realClock.sleep(60_000, { signal: stop.signal })).rejects.toBe("enough");
    expect(realClock.monotonic() - start).toBeLessThan(30_000);
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it("aborts by timeout, and through AbortSignal.any", async () => {
    const start = realClock.monotonic();
    const signal = realClock.timeout(5);
    await expect(
      realClock.sleep(60_000, { signal: AbortSignal.any([signal]) }),
    ).rejects.toMatchObject({ name: "TimeoutError" });
    expect(realClock.monotonic() - start).toBeGreaterThanOrEqual(5);
  });

  it("ticks without drift, and drops the ticks that a blocked process misses", async () => {
    const start = realClock.monotonic();
    const late: number[] = [];
    let ticks = 0;
    const ticker = realClock.newTicker(5);
    for await (const at of ticker) {
      late.push((at - start) / 5);
      if (++ticks === 4) spin(22);
      if (ticks === 8) break;
    }
    const last = late.at(-1) as number;
    // Every tick, seen or dropped, has its own point of the grid, at or before it.
    expect(late.every((position, index) => position >= index + 1)).toBe(true);
    expect(ticker.dropped).toBeGreaterThanOrEqual(3);
    expect(last).toBeGreaterThanOrEqual(8 + ticker.dropped);
  });
});
