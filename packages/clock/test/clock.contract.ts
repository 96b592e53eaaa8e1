import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "@holdfast/clock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import { type Timeline, timelineOf } from "../../../test/timeline.ts";

/** A clock under test, and the hand that moves it. */
export interface Harness {
  readonly clock: Clock;
  /** Moves time by whole milliseconds; promises that can settle on the way do. */
  advance(ms: number): Promise<unknown>;
  /** How many timers are armed. */
  waiters(): number;
  /** The waiters that an infinite timer adds: 1, or 0 if none is armed for it. */
  readonly endlessWaiters?: 0;
  /** Whether all sleeps are armed as one timer. */
  readonly sharesTimer?: true;
  /** Releases the resources of the harness. */
  close?(): void;
}

const NEVER = Number.POSITIVE_INFINITY;
const YEAR = 365 * 24 * 60 * 60 * 1000;

/** The behaviour of every {@link Clock}. */
export function clockContract(name: string, makeHarness: () => Harness): void {
  describe(`the contract of a clock: ${name}`, () => {
    let harness: Harness;
    let clock: Clock;
    let timeline: Timeline;
    const advance = (ms: number) => harness.advance(ms);

    beforeEach(() => {
      harness = makeHarness();
      clock = harness.clock;
      timeline = timelineOf(clock);
    });

    afterEach(() => harness.close?.());

    function arm(delay: number, event: unknown): void {
      clock.afterFunc(delay, () => timeline.note(event));
    }

    it("has methods that work without the object", async () => {
      const { now, monotonic, afterFunc, newTimer, sleep, sleepUntil, newTicker, timeout } = clock;
      const start = monotonic();
      expect(now()).toBe(clock.now());
      const ticker = newTicker(10);
      using signal = timeout(10);
      const fired: string[] = [];
      afterFunc(10, () => fired.push("afterFunc"));
      void newTimer(10).fired.then(() => fired.push("newTimer"));
      void sleep(10).then(() => fired.push("sleep"));
      void sleepUntil(start + 10).then(() => fired.push("sleepUntil"));
      await advance(10);
      await advance(0);
      ticker.stop();
      expect(fired.sort()).toEqual(["afterFunc", "newTimer", "sleep", "sleepUntil"]);
      expect(signal.aborted).toBe(true);
    });

    async function noteEnd(promise: Promise<unknown>, event: string): Promise<void> {
      try {
        await promise;
        timeline.note(`${event} done`);
      } catch (reason) {
        timeline.note([`${event} rejected`, reason]);
      }
    }

    describe("afterFunc", () => {
      it("fires at its instant, not a millisecond before, and once", async () => {
        arm(1000, "fired");
        await advance(999);
        expect(timeline.events).toEqual([]);
        await advance(1);
        await advance(5000);
        expect(timeline.events).toEqual([[1000, "fired"]]);
      });

      it("fires in the order of deadlines, each at its own instant", async () => {
        const start = clock.now();
        for (const delay of [30, 10, 20, 40])
          clock.afterFunc(delay, () => timeline.note(clock.now() - start));
        await advance(35);
        expect(timeline.events).toEqual([
          [10, 10],
          [20, 20],
          [30, 30],
        ]);
        expect(harness.waiters()).toBe(1);
      });

      it.each([1, 2, 13, 200])("fires %i equal deadlines in the order of creation", async (n) => {
        const order = Array.from({ length: n }, (_, index) => index);
        for (const index of order) arm(50, index);
        await advance(50);
        expect(timeline.events).toEqual(order.map((index) => [50, index]));
      });

      it("fires timers at their instants that a callback arms within the time that passes", async () => {
        clock.afterFunc(10, () => {
          timeline.note("outer");
          arm(5, "inner");
          arm(500, "too late");
        });
        arm(20, "other");
        await advance(100);
        expect(timeline.events).toEqual([
          [10, "outer"],
          [15, "inner"],
          [20, "other"],
        ]);
      });

      it("never calls back from inside the call", async () => {
        clock.afterFunc(0, () => timeline.note("fired"));
        timeline.note("returned");
        await advance(1);
        expect(timeline.events.map(([, event]) => event)).toEqual(["returned", "fired"]);
      });

      it("keeps the AsyncLocalStorage context of its caller", async () => {
        const store = new AsyncLocalStorage<string>();
        const timer = store.run("caller", () =>
          clock.afterFunc(10, () => timeline.note(store.getStore())),
        );
        await store.run("driver", () => advance(10));
        store.run("resetter", () => timer.reset(10));
        await store.run("driver", () => advance(10));
        expect(timeline.events).toEqual([
          [10, "caller"],
          [20, "caller"],
        ]);
      });
    });

    describe("delays", () => {
      interface Case {
        readonly delay: number;
        readonly before: number;
        readonly firesBy: number;
      }
      it.each<Case>([
        { delay: Number.NEGATIVE_INFINITY, before: 0, firesBy: 1 },
        { delay: -1, before: 0, firesBy: 1 },
        { delay: 0, before: 0, firesBy: 1 },
        { delay: 0.4, before: 0, firesBy: 1 },
        { delay: 1.9, before: 1, firesBy: 2 },
        { delay: 2 ** 31 - 1, before: 2 ** 31 - 2, firesBy: 2 ** 31 - 1 },
        { delay: 2 ** 31, before: 2 ** 31 - 1, firesBy: 2 ** 31 },
        { delay: 2 ** 32 + 5, before: 2 ** 32 + 4, firesBy: 2 ** 32 + 5 },
        { delay: YEAR, before: YEAR - 1, firesBy: YEAR },
        { delay: 1e12, before: 1e12 - 1, firesBy: 1e12 },
      ])("of $delay fires after $before and by $firesBy", async ({ delay, before, firesBy }) => {
        const timer = clock.newTimer(delay);
        if (before > 0) await advance(before);
        expect(timer.active).toBe(true);
        await advance(firesBy - before);
        expect(timer.active).toBe(false);
        expect(await timer.fired).toBe(true);
        expect(harness.waiters()).toBe(0);
      });

      it("of Infinity never fires, and can be stopped", async () => {
        const timer = clock.newTimer(NEVER);
        await advance(1e12);
        expect(timer.deadline).toBe(NEVER);
        expect([timer.active, harness.waiters()]).toEqual([true, harness.endlessWaiters ?? 1]);
        expect([timer.stop(), harness.waiters()]).toEqual([true, 0]);
      });

      it("of NaN throw, or reject, and arm nothing", async () => {
        const nan = new RangeError("delay must be a number of milliseconds, got NaN");
        expect(() => clock.afterFunc(Number.NaN, () => {})).toThrow(nan);
        expect(() => clock.newTimer(Number.NaN)).toThrow(nan);
        expect(() => clock.timeout(Number.NaN)).toThrow(nan);
        await expect(clock.sleep(Number.NaN)).rejects.toThrow(nan);
        expect(harness.waiters()).toBe(0);
      });
    });

    describe("a timer", () => {
      it("returns from stop() whether it prevented the timer from firing", async () => {
        const early = clock.newTimer(10);
        const late = clock.newTimer(10);
        expect([early.stop(), early.stop()]).toEqual([true, false]);
        await advance(10);
        expect([late.stop(), early.stop()]).toEqual([false, false]);
        expect(harness.waiters()).toBe(0);
      });

      it("counts as fired inside its own callback", async () => {
        const timer = clock.afterFunc(10, () => timeline.note([timer.stop(), timer.active]));
        await advance(10);
        expect(timeline.events).toEqual([[10, [false, false]]]);
      });

      it("is armed by reset() in every state, which returns whether it was waiting", async () => {
        const timer = clock.afterFunc(10, () => timeline.note("fired"));
        expect(timer.reset(30)).toBe(true);
        await advance(29);
        expect(timeline.events).toEqual([]);
        await advance(1);
        expect(timer.reset(5)).toBe(false);
        await advance(5);
        timer.reset(7);
        timer.stop();
        expect(timer.reset(1)).toBe(false);
        await advance(1);
        expect(timeline.events).toEqual([
          [30, "fired"],
          [35, "fired"],
          [36, "fired"],
        ]);
      });

      it("repeats when its callback resets it", async () => {
        const timer = clock.afterFunc(10, () => {
          timeline.note(timer.reset(20));
        });
        await advance(50);
        timer.stop();
        await advance(50);
        expect(timeline.events).toEqual([
          [10, false],
          [30, false],
          [50, false],
        ]);
      });

      it("fires last of its instant after reset()", async () => {
        const first = clock.afterFunc(10, () => timeline.note("reset"));
        arm(10, "untouched");
        first.reset(10);
        await advance(10);
        expect(timeline.events).toEqual([
          [10, "untouched"],
          [10, "reset"],
        ]);
      });

      it("keeps its deadline while it waits and afterwards", async () => {
        const start = clock.monotonic();
        const timer = clock.newTimer(10);
        expect(timer.deadline - start).toBe(10);
        timer.reset(25);
        expect(timer.deadline - start).toBe(25);
        await advance(30);
        expect(timer.deadline - start).toBe(25);
      });

      it("can stop another one that is due at the same instant", async () => {
        clock.afterFunc(10, () => {
          timeline.note("first");
          for (const timer of victims) timeline.note(timer.stop());
        });
        const victims = ["second", "third"].map((event) =>
          clock.afterFunc(10, () => timeline.note(event)),
        );
        arm(10, "last");
        await advance(20);
        expect(timeline.events).toEqual([
          [10, "first"],
          [10, true],
          [10, true],
          [10, "last"],
        ]);
      });

      it("can reset another one that is due at the same instant", async () => {
        clock.afterFunc(10, () => timeline.note(victim.reset(7)));
        const victim = clock.afterFunc(10, () => timeline.note("put off"));
        await advance(20);
        expect(timeline.events).toEqual([
          [10, true],
          [17, "put off"],
        ]);
      });

      it("is unchanged when reset() refuses its argument", async () => {
        const timer = clock.newTimer(10);
        expect(() => timer.reset(Number.NaN)).toThrow(RangeError);
        await advance(9);
        expect(timer.active).toBe(true);
        await advance(1);
        expect(await timer.fired).toBe(true);
      });

      it("is stopped at the end of its scope", async () => {
        const timer = clock.newTimer(10);
        timer[Symbol.dispose]();
        expect([timer.active, harness.waiters()]).toEqual([false, 0]);
      });
    });

    describe("fired", () => {
      it("resolves true when the timer fires and false when it is stopped", async () => {
        void clock.newTimer(10).fired.then(timeline.note);
        const stopped = clock.newTimer(10);
        void stopped.fired.then(timeline.note);
        stopped.stop();
        await advance(20);
        expect(timeline.events).toEqual([
          [0, false],
          [10, true],
        ]);
      });

      it("shows the outcome when first read after the end", async () => {
        const fired = clock.newTimer(10);
        const stopped = clock.newTimer(10);
        stopped.stop();
        await advance(10);
        expect([await fired.fired, await stopped.fired]).toEqual([true, false]);
      });

      it("is one promise across a reset while waiting, and a new one after the end", async () => {
        const timer = clock.newTimer(10);
        const first = timer.fired;
        timer.reset(20);
        expect(timer.fired).toBe(first);
        await advance(20);
        expect(await first).toBe(true);
        timer.reset(5);
        const second = timer.fired;
        expect(second).not.toBe(first);
        timer.stop();
        expect([await second, await first]).toEqual([false, true]);
      });

      it("does not make a timer thenable", async () => {
        const timer = await (async () => clock.newTimer(NEVER))();
        expect(timer.active).toBe(true);
        timer.stop();
      });
    });

    describe("sleep", () => {
      it("resolves at its instant", async () => {
        void noteEnd(clock.sleep(30), "30");
        void noteEnd(clock.sleep(10), "10");
        await advance(9);
        expect(timeline.events).toEqual([]);
        await advance(91);
        expect(timeline.events).toEqual([
          [10, "10 done"],
          [30, "30 done"],
        ]);
      });

      it("resolves at every instant of a chain", async () => {
        void (async () => {
          for (const delay of [10, 20, 30]) {
            await clock.sleep(delay);
            timeline.note(delay);
          }
        })();
        await advance(100);
        expect(timeline.events).toEqual([
          [10, 10],
          [30, 20],
          [60, 30],
        ]);
      });

      it("keeps the AsyncLocalStorage context of its caller", async () => {
        const store = new AsyncLocalStorage<string>();
        store.run("caller", () => {
          void clock.sleep(10).then(() => timeline.note(store.getStore()));
        });
        await store.run("driver", () => advance(10));
        expect(timeline.events).toEqual([[10, "caller"]]);
      });
    });

    describe("sleepUntil", () => {
      it("resolves at its instant, also if time passes before the call", async () => {
        const deadline = clock.monotonic() + 100;
        await advance(60);
        void noteEnd(clock.sleepUntil(deadline), "100");
        await advance(39);
        expect(timeline.events).toEqual([]);
        await advance(1);
        expect(timeline.events).toEqual([[100, "100 done"]]);
      });

      it("treats an instant in the past as now", async () => {
        await advance(60);
        void noteEnd(clock.sleepUntil(clock.monotonic() - 50), "past");
        await advance(1);
        expect(timeline.events.map(([, event]) => event)).toEqual(["past done"]);
      });

      it("rejects when the signal aborts", async () => {
        const stop = new AbortController();
        void noteEnd(clock.sleepUntil(NEVER, { signal: stop.signal }), "never");
        await advance(5);
        stop.abort("enough");
        await advance(1);
        expect(timeline.events.map(([, event]) => event)).toEqual([["never rejected", "enough"]]);
        expect([harness.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
      });
    });

    describe("an abort", () => {
      const reasons = [undefined, null, 0, "", false, Number.NaN, "stop", new Error("stop")].map(
        (reason) => ({ reason }),
      );
      const expectNothingLeft = (signal: AbortSignal): void => {
        expect([harness.waiters(), abortListeners(signal)]).toEqual([0, 0]);
      };

      it.each(reasons)(
        "with $reason before the sleep rejects it with that reason",
        async ({ reason }) => {
          const signal = AbortSignal.abort(reason);
          const slept = clock.sleep(10, { signal });
          expectNothingLeft(signal);
          const rejection = await slept.then(
            () => "resolved",
            (thrown: unknown) => ({ thrown }),
          );
          expect(rejection).toEqual({ thrown: signal.reason });
          expect((rejection as { thrown: unknown }).thrown).toBe(signal.reason);
        },
      );

      it.each(reasons)("with $reason during the sleep rejects it at once", async ({ reason }) => {
        const stop = new AbortController();
        const ended: unknown[] = [];
        clock.sleep(10, { signal: stop.signal }).then(
          () => ended.push("resolved"),
          (thrown: unknown) => ended.push({ thrown }),
        );
        expect([harness.waiters(), abortListeners(stop.signal)]).toEqual([1, 1]);
        await advance(5);
        stop.abort(reason);
        expectNothingLeft(stop.signal);
        await advance(20);
        expect(ended).toEqual([{ thrown: stop.signal.reason }]);
        expectNothingLeft(stop.signal);
      });

      it("in an earlier callback of the same instant rejects the sleep", async () => {
        const stop = new AbortController();
        clock.afterFunc(10, () => stop.abort("stop"));
        void noteEnd(clock.sleep(10, { signal: stop.signal }), "sleep");
        await advance(20);
        expect(timeline.events).toEqual([[10, ["sleep rejected", "stop"]]]);
        expectNothingLeft(stop.signal);
      });

      it("in a later callback of the same instant comes too late", async () => {
        const stop = new AbortController();
        void noteEnd(clock.sleep(10, { signal: stop.signal }), "sleep");
        clock.afterFunc(10, () => stop.abort("stop"));
        await advance(20);
        expect(timeline.events).toEqual([[10, "sleep done"]]);
        expectNothingLeft(stop.signal);
      });

      it("has no effect the second time", async () => {
        const stop = new AbortController();
        void noteEnd(clock.sleep(10, { signal: stop.signal }), "sleep");
        stop.abort("first");
        stop.abort("second");
        await advance(20);
        expect(timeline.events).toEqual([[0, ["sleep rejected", "first"]]]);
        expectNothingLeft(stop.signal);
      });

      it("ends all sleeps on the signal, in the order of their start", async () => {
        const stop = new AbortController();
        const order: number[] = [];
        for (let index = 0; index < 1000; index++)
          clock.sleep(10 + (index % 7), { signal: stop.signal }).catch(() => order.push(index));
        const timers = harness.sharesTimer === true ? 1 : 1000;
        expect([harness.waiters(), abortListeners(stop.signal)]).toEqual([timers, 1]);
        stop.abort();
        expectNothingLeft(stop.signal);
        await advance(1);
        expect(order).toEqual(Array.from({ length: 1000 }, (_, index) => index));
      });

      it("leaves no listener on a signal that never aborts", async () => {
        const { signal } = new AbortController();
        const sleeps = Array.from({ length: 100 }, (_, index) => clock.sleep(index, { signal }));
        expect(abortListeners(signal)).toBe(1);
        await advance(100);
        await Promise.all(sleeps);
        expectNothingLeft(signal);
      });
    });

    describe("a ticker", () => {
      it("ticks on a fixed grid until the loop breaks", async () => {
        void (async () => {
          for await (const at of clock.newTicker(25)) {
            expect(at).toBe(clock.monotonic());
            timeline.note("tick");
            if (timeline.events.length === 3) break;
          }
          timeline.note("end");
        })();
        await advance(24);
        expect(timeline.events).toEqual([]);
        await advance(100);
        expect(timeline.events).toEqual([
          [25, "tick"],
          [50, "tick"],
          [75, "tick"],
          [75, "end"],
        ]);
        expect(harness.waiters()).toBe(0);
      });

      it("does not drift under a slow consumer, and counts dropped ticks", async () => {
        const start = clock.monotonic();
        const ticker = clock.newTicker(10);
        void (async () => {
          for await (const at of ticker) {
            timeline.note(at - start);
            await clock.sleep(24);
          }
        })();
        await advance(100);
        expect(timeline.events).toEqual([
          [10, 10],
          [34, 20],
          [58, 40],
          [82, 60],
        ]);
        expect(ticker.dropped).toBe(5);
        ticker.stop();
      });

      it("keeps one tick for a late next()", async () => {
        const start = clock.monotonic();
        const ticker = clock.newTicker(10);
        await advance(35);
        expect(await ticker.next()).toEqual({ done: false, value: start + 10 });
        expect(ticker.dropped).toBe(2);
        void ticker.next().then(({ value }) => timeline.note((value ?? 0) - start));
        await advance(10);
        expect(timeline.events).toEqual([[40, 40]]);
        ticker.stop();
      });

      it("resolves pending next() calls with one tick each, in order", async () => {
        const ticker = clock.newTicker(10);
        for (const name of ["first", "second"]) void ticker.next().then(() => timeline.note(name));
        await advance(25);
        expect(timeline.events).toEqual([
          [10, "first"],
          [20, "second"],
        ]);
        ticker.stop();
      });

      it("resolves pending and future next() calls as done when stopped", async () => {
        const ticker = clock.newTicker(10);
        const waiting = [ticker.next(), ticker.next()];
        ticker.stop();
        ticker.stop();
        const end = { done: true, value: undefined };
        expect(await Promise.all([...waiting, ticker.next()])).toEqual([end, end, end]);
        expect(await ticker.return()).toEqual(end);
        expect(harness.waiters()).toBe(0);
      });

      it("drops the buffered tick when it is stopped", async () => {
        const ticker = clock.newTicker(10);
        await advance(10);
        ticker[Symbol.dispose]();
        expect(await ticker.next()).toEqual({ done: true, value: undefined });
      });

      it("starts over on reset(): a new grid, one waiter, no old tick", async () => {
        const start = clock.monotonic();
        const ticker = clock.newTicker(10);
        await advance(15);
        for (let times = 0; times < 3; times++) ticker.reset(40);
        expect(harness.waiters()).toBe(1);
        void ticker.next().then(({ value }) => timeline.note((value ?? 0) - start));
        await advance(39);
        expect(timeline.events).toEqual([]);
        await advance(1);
        expect(timeline.events).toEqual([[55, 55]]);
        ticker.stop();
        expect(harness.waiters()).toBe(0);
      });

      it("ticks again when reset after a stop", async () => {
        const ticker = clock.newTicker(10);
        ticker.stop();
        ticker.reset(20);
        void ticker.next().then(() => timeline.note("tick"));
        await advance(20);
        expect(timeline.events).toEqual([[20, "tick"]]);
        ticker.stop();
      });

      it("never ticks at an infinite period", async () => {
        const ticker = clock.newTicker(NEVER);
        void ticker.next().then(({ done }) => timeline.note(done));
        await advance(1e9);
        ticker.stop();
        await advance(1);
        expect(timeline.events.map(([, event]) => event)).toEqual([true]);
      });

      it.each([0, -1, Number.NEGATIVE_INFINITY, Number.NaN])("refuses a period of %d", (period) => {
        const refusal = new RangeError(
          `period must be a number of milliseconds above 0, got ${period}`,
        );
        expect(() => clock.newTicker(period)).toThrow(refusal);
        const ticker = clock.newTicker(10);
        expect(() => ticker.reset(period)).toThrow(refusal);
        expect(harness.waiters()).toBe(1);
        ticker.stop();
      });
    });

    describe("timeout", () => {
      it("aborts at its instant with a TimeoutError", async () => {
        const signal = clock.timeout(100);
        await advance(99);
        expect(signal.aborted).toBe(false);
        await advance(1);
        expect(signal.aborted).toBe(true);
        expect(signal.reason).toBeInstanceOf(DOMException);
        expect([signal.reason.name, signal.reason.message]).toEqual([
          "TimeoutError",
          "timed out after 100 ms",
        ]);
      });

      it("never aborts once disposed", async () => {
        const signal = clock.timeout(100);
        signal[Symbol.dispose]();
        signal[Symbol.dispose]();
        expect(harness.waiters()).toBe(0);
        await advance(200);
        expect(signal.aborted).toBe(false);
      });

      it("ends sleeps on its own clock", async () => {
        const signal = clock.timeout(30);
        void noteEnd(clock.sleep(100, { signal }), "sleep");
        await advance(200);
        expect(timeline.events).toEqual([[30, ["sleep rejected", signal.reason]]]);
      });
    });

    describe("reading", () => {
      it("moves now() and monotonic() by the time that passes", async () => {
        const [now, monotonic] = [clock.now(), clock.monotonic()];
        await advance(1234);
        expect([clock.now() - now, clock.monotonic() - monotonic]).toEqual([1234, 1234]);
      });
    });
  });
}
