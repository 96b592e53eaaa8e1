import { AsyncLocalStorage } from "node:async_hooks";
import { DeadlockError, FakeClock, LivelockError } from "@holdfast/clock/testing";
import { install } from "@sinonjs/fake-timers";
import { beforeEach, describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { type Timeline, timelineOf } from "../../../../test/timeline.ts";
import { collectUncaught } from "../../../../test/uncaught.ts";

const HOUR = 60 * 60 * 1000;

let clock: FakeClock;
let timeline: Timeline;

beforeEach(() => {
  clock = new FakeClock();
  timeline = timelineOf(clock);
});

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("run", () => {
  it("moves time from deadline to deadline until its function ends, and no further", async () => {
    clock.afterFunc(HOUR, () => timeline.note("callback"));
    clock.afterFunc(100 * HOUR, () => timeline.note("too late"));
    const answer = await clock.run(async (it) => {
      expect(it).toBe(clock);
      await it.sleep(2 * HOUR);
      timeline.note("slept");
      return 42;
    });
    expect(answer).toBe(42);
    expect(timeline.events).toEqual([
      [HOUR, "callback"],
      [2 * HOUR, "slept"],
    ]);
    expect([clock.monotonic() - 1_000_000, clock.waiters()]).toEqual([2 * HOUR, 1]);
  });

  it.each([{ turns: 0 }, { turns: 1 }, { turns: 3 }])(
    "does not move time after its function ended: $turns turns",
    async (options) => {
      clock.afterFunc(1, () => timeline.note("fired"));
      await clock.run(async () => {
        for (let hop = 0; hop < 100; hop++) await Promise.resolve();
      }, options);
      await nextTurn();
      expect(timeline.events).toEqual([]);
    },
  );

  it("resolves with a plain value, with undefined, and with the value of a thenable", async () => {
    const thenable: PromiseLike<string> = {
      // biome-ignore lint/suspicious/noThenProperty: the test needs a thenable
      then: (resolve) => Promise.resolve("then").then(resolve),
    };
    expect(await clock.run(() => 1)).toBe(1);
    expect(await clock.run(() => {})).toBe(undefined);
    expect(await clock.run(() => thenable)).toBe("then");
  });

  it("rejects with the error of its function, thrown or rejected", async () => {
    const error = new Error("mine");
    const thrower = (): never => {
      throw error;
    };
    await expect(clock.run(thrower)).rejects.toBe(error);
    await expect(clock.run(() => Promise.reject(error))).rejects.toBe(error);
    await expect(clock.run(() => clock.sleep(HOUR).then(thrower))).rejects.toBe(error);
    expect(await clock.run(() => "still works")).toBe("still works");
  });

  it("starts its function at once", () => {
    let started = false;
    void clock.run(() => {
      started = true;
    });
    expect(started).toBe(true);
  });

  it("rejects with the error of a callback, and leaves later timers armed", async () => {
    const error = new Error("thrown");
    clock.afterFunc(10, () => {
      throw error;
    });
    const slept = clock.sleep(20).then(() => timeline.note("slept"));
    await expect(clock.run(() => slept)).rejects.toBe(error);
    expect([clock.monotonic(), clock.waiters()]).toEqual([1_000_010, 1]);
    await clock.run(() => slept);
    expect(timeline.events).toEqual([[20, "slept"]]);
  });

  it("continues when real I/O arms a timer", async () => {
    const stuck = new Promise<void>((resolve) => {
      setTimeout(() => {
        void clock.sleep(HOUR).then(resolve);
      }, 5);
    });
    await clock.run(() => stuck);
    expect(clock.monotonic() - 1_000_000).toBe(HOUR);
  });

  it("waits for real I/O when no timer is armed", async () => {
    const real = new Promise((resolve) => setTimeout(resolve, 5, "real"));
    expect(await clock.run(() => real, { turns: 0 })).toBe("real");
  });

  it("leaves an unhandled rejection unhandled", async () => {
    const error = new Error("not handled");
    const unhandled = collectUncaught("unhandledRejection");
    await clock.run(async () => {
      void clock.sleep(1).then(() => {
        throw error;
      });
      await clock.sleep(2);
      timeline.note("end");
    });
    unhandled[Symbol.dispose]();
    expect(unhandled.errors).toEqual([error]);
    expect(timeline.events).toEqual([[2, "end"]]);
  });

  it.each([{ turns: 0 }, { turns: 1 }])(
    "leaves a throw in nextTick or queueMicrotask uncaught and continues: $turns turns",
    async (options) => {
      const uncaught = collectUncaught();
      await clock.run(async () => {
        await clock.sleep(1);
        for (const schedule of [queueMicrotask, process.nextTick]) {
          schedule(() => {
            throw new Error(schedule.name);
          });
        }
        await clock.sleep(1);
        timeline.note("end");
      }, options);
      uncaught[Symbol.dispose]();
      expect(uncaught.errors).toEqual([new Error("queueMicrotask"), new Error("nextTick")]);
      expect(timeline.events).toEqual([[2, "end"]]);
    },
  );

  it("separates two clocks that run at once, and their contexts", async () => {
    const store = new AsyncLocalStorage<string>();
    const runOn = (name: string, period: number) =>
      store.run(name, async () => {
        const own = new FakeClock();
        const seen: unknown[] = [];
        await own.run(async () => {
          for (let round = 0; round < 3; round++) {
            await own.sleep(period);
            own.afterFunc(0, () => seen.push(store.getStore()));
          }
          await own.sleep(0);
        });
        return [own.monotonic() - 1_000_000, ...seen];
      });
    expect(await Promise.all([runOn("one", 10), runOn("two", HOUR)])).toEqual([
      [30, "one", "one", "one"],
      [3 * HOUR, "two", "two", "two"],
    ]);
  });

  it("works while a library has faked the global timers", async () => {
    const native = globalThis.setImmediate;
    const sinon = install({ toNotFake: ["nextTick", "queueMicrotask"] });
    expect(globalThis.setImmediate).not.toBe(native);
    try {
      await clock.run(async () => {
        await clock.sleep(HOUR);
        timeline.note("slept");
      });
      await expect(clock.run(() => new Promise(() => {}), { stallMs: 1 })).rejects.toBeInstanceOf(
        DeadlockError,
      );
    } finally {
      sinon.uninstall();
    }
    expect(timeline.events).toEqual([[HOUR, "slept"]]);
  });
});

describe("the signal of run", () => {
  const reasons = [undefined, null, 0, "", new Error("stop")].map((reason) => ({ reason }));

  it.each(reasons)(
    "ends the run at once with $reason and leaves no listener",
    async ({ reason }) => {
      const stop = new AbortController();
      clock.afterFunc(10, () => stop.abort(reason));
      const outcome = await clock
        .run(() => clock.sleep(HOUR), { signal: stop.signal })
        .catch((thrown: unknown) => ({ thrown }));
      expect(outcome).toEqual({ thrown: stop.signal.reason as unknown });
      expect([clock.monotonic(), abortListeners(stop.signal)]).toEqual([1_000_010, 0]);
    },
  );

  it.each(reasons)(
    "keeps the function from starting when aborted with $reason",
    async ({ reason }) => {
      const signal = AbortSignal.abort(reason);
      let started = false;
      const outcome = await clock
        .run(
          () => {
            started = true;
          },
          { signal },
        )
        .catch((thrown: unknown) => ({ thrown }));
      expect([outcome, started]).toEqual([{ thrown: signal.reason as unknown }, false]);
      expect(await clock.run(() => "free")).toBe("free");
    },
  );

  it("leaves no listener when the function ends", async () => {
    const { signal } = new AbortController();
    await clock.run(() => clock.sleep(1), { signal });
    await clock.run(() => Promise.reject(new Error("mine")), { signal }).catch(() => {});
    expect(abortListeners(signal)).toBe(0);
  });

  it.each(["run", "waitForWaiters"] as const)(
    "may lack throwIfAborted, like the signals of older libraries: %s",
    async (verb) => {
      const signal = Object.assign(new EventTarget(), {
        aborted: false,
        reason: undefined as unknown,
      });
      const options = { signal: signal as unknown as AbortSignal };
      const call = () =>
        verb === "run"
          ? clock.run(() => new Promise(() => {}), options)
          : clock.waitForWaiters(1, options);
      const pending = call();
      Object.assign(signal, { aborted: true, reason: "enough" });
      signal.dispatchEvent(new Event("abort"));
      await expect(pending).rejects.toBe("enough");
      await expect(call()).rejects.toBe("enough");
    },
  );

  it("may abort before the function has returned", async () => {
    const stop = new AbortController();
    const outcome = clock.run(
      () => {
        stop.abort("inside");
        return clock.sleep(HOUR);
      },
      { signal: stop.signal },
    );
    await expect(outcome).rejects.toBe("inside");
  });

  it("frees the clock within the abort", async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const run = clock.run(() => clock.sleep(1000), { signal: stop.signal });
    expect(() => clock.stepSync(1)).toThrow("run() is driving");
    stop.abort("enough");
    clock.stepSync(1);
    await expect(run).rejects.toBe("enough");
    expect(clock.monotonic()).toBe(1_000_001);
  });

  it("frees the clock for a run that the end of the aborted one does not affect", async () => {
    const stop = new AbortController();
    const first = clock.run(() => clock.sleep(10), { signal: stop.signal });
    stop.abort("enough");
    await expect(first).rejects.toBe("enough");
    await clock.run(async () => {
      await clock.sleep(20);
      expect(() => clock.stepSync(1)).toThrow("that run() is driving");
    });
  });
});

describe("a second method that moves time", () => {
  const message = (verb: string, driver: string) =>
    `${verb}() cannot move a clock that ${driver}() is driving: await it first, or wait inside it with clock.sleep()`;

  async function refusals(): Promise<unknown[]> {
    const stepSync = (() => {
      try {
        clock.stepSync(1);
        return undefined;
      } catch (error) {
        return error;
      }
    })();
    const promises = [clock.run(() => {}), clock.step(1), clock.setTime(clock.now())];
    const settled = await Promise.allSettled(promises);
    return [
      stepSync,
      ...settled.map((outcome) => (outcome.status === "rejected" ? outcome.reason : "resolved")),
    ];
  }

  const expected = (driver: string) =>
    ["stepSync", "run", "step", "step"].map((verb) => new Error(message(verb, driver)));

  it("is refused during run", async () => {
    expect(await clock.run(refusals)).toEqual(expected("run"));
  });

  it("is refused during step, and during setTime", async () => {
    const during: Promise<unknown[]>[] = [];
    clock.afterFunc(1, () => during.push(refusals()));
    await clock.step(1);
    clock.afterFunc(1, () => during.push(refusals()));
    await clock.setTime(clock.now() + 1);
    expect(await Promise.all(during)).toEqual([expected("step"), expected("step")]);
  });

  it("is refused in a callback of stepSync", async () => {
    let during: Promise<unknown[]> | undefined;
    clock.afterFunc(1, () => {
      during = refusals();
    });
    clock.stepSync(1);
    expect(await during).toEqual(expected("stepSync"));
  });

  it("is refused as soon as the first has begun, and does not affect it", async () => {
    const first = clock.step(10);
    await expect(clock.step(5)).rejects.toThrow(message("step", "step"));
    await first;
    expect(clock.monotonic()).toBe(1_000_010);
  });

  it("is accepted when the first has resolved or rejected", async () => {
    await clock.run(() => {});
    await clock.run(() => Promise.reject(new Error())).catch(() => {});
    await clock.run(() => new Promise(() => {}), { stallMs: 0 }).catch(() => {});
    clock.stepSync(1);
    await clock.step(1);
    expect(clock.monotonic()).toBe(1_000_002);
  });
});

describe("a deadlock", () => {
  const never = () => new Promise<never>(() => {});

  it("is reported with every fact", async () => {
    clock.newTimer(Number.POSITIVE_INFINITY, { label: "forever" });
    clock.newTimer(Number.POSITIVE_INFINITY);
    await clock.run(() => clock.sleep(3));
    const error: DeadlockError = await clock
      .run(() => clock.sleep(7).then(never), { stallMs: 5 })
      .catch((reason) => reason);
    expect(error).toBeInstanceOf(DeadlockError);
    expect([error.name, error.code]).toEqual(["DeadlockError", "ERR_CLOCK_DEADLOCK"]);
    const { resources, ...facts } = error.facts;
    expect(facts).toEqual({
      verb: "run",
      elapsed: 7,
      limit: "stallMs",
      fired: 1,
      stalled: 5,
      holds: [],
      pending: [
        { label: "forever", deadline: Number.POSITIVE_INFINITY, ref: true },
        { label: undefined, deadline: Number.POSITIVE_INFINITY, ref: true },
      ],
    });
    expect(error.message.split("\n")).toEqual([
      "run() is stuck: no timer can fire and nothing happened for 5 ms of real time",
      "  fake time passed: 7 ms, timers fired: 1",
      "  timers armed: forever @Infinity, (no label) @Infinity",
      `  the process waits for: ${resources.join(", ") || "nothing known"}`,
      "  pass this clock to all code that waits; replace global timers and AbortSignal.timeout by this clock; wrap real I/O in clock.external(); settle every promise; if the work is only slow, raise stallMs above 5",
    ]);
  });

  it("names the holds that cause it, and the timers that wait behind them", async () => {
    clock.hold("a socket");
    clock.hold();
    const wait = clock.sleep(10, { label: "poll" });
    const error: DeadlockError = await clock.step(20, { stallMs: 0 }).catch((reason) => reason);
    expect(error.facts).toMatchObject({ verb: "step", holds: ["a socket", "hold"], fired: 0 });
    expect(error.message.split("\n")).toEqual([
      "step() is stuck: time is held by a socket, hold and nothing happened for 0 ms of real time",
      "  fake time passed: 0 ms, timers fired: 0",
      "  timers armed: poll @1000010",
      `  the process waits for: ${error.facts.resources.join(", ") || "nothing known"}`,
      "  release the hold; work inside clock.external() must not wait for this clock; if the work is only slow, raise stallMs above 0",
    ]);
    void wait;
  });

  it("names ten timers and counts the rest", async () => {
    for (let index = 0; index < 13; index++)
      clock.newTimer(Number.POSITIVE_INFINITY, { label: `t${index}` });
    const error: DeadlockError = await clock.run(never, { stallMs: 0 }).catch((reason) => reason);
    expect(error.facts.pending).toHaveLength(13);
    expect(error.message).toContain(
      "\n  timers armed: t0 @Infinity, t1 @Infinity, t2 @Infinity, t3 @Infinity, t4 @Infinity, t5 @Infinity, t6 @Infinity, t7 @Infinity, t8 @Infinity, t9 @Infinity and 3 more\n",
    );
  });

  it("names ten timers without a rest", async () => {
    for (let index = 0; index < 10; index++)
      clock.newTimer(Number.POSITIVE_INFINITY, { label: `t${index}` });
    const error: DeadlockError = await clock.run(never, { stallMs: 0 }).catch((reason) => reason);
    expect(error.message).toContain("t8 @Infinity, t9 @Infinity\n");
  });

  it("is reported when no timer is armed and the process waits for nothing", () => {
    const error = new DeadlockError({
      verb: "run",
      elapsed: 0,
      fired: 0,
      stalled: 0,
      limit: "stallMs",
      holds: [],
      pending: [],
      resources: [],
    });
    expect(error.message).toContain("timers armed: none\n  the process waits for: nothing known\n");
  });

  it("is measured from the last event", async () => {
    const began = performance.now();
    const outcome = clock.run(never, { stallMs: 40 });
    setTimeout(() => clock.newTimer(Number.POSITIVE_INFINITY), 20);
    await expect(outcome).rejects.toBeInstanceOf(DeadlockError);
    expect(performance.now() - began).toBeGreaterThanOrEqual(58);
  });

  it("names externalMs when slow work holds time and no timer waits", async () => {
    const work = new Promise((resolve) => setTimeout(resolve, 200));
    const stuck = clock.run(() => clock.external(work, "slow work"), { externalMs: 5 });
    await expect(stuck).rejects.toThrow(
      "\n  release the hold, or let the work inside clock.external() settle; if the work is only slow, raise externalMs above 5",
    );
  });

  it("is not declared while one external after another makes progress", async () => {
    const part = () => clock.external(new Promise((resolve) => setTimeout(resolve, 30)));
    const run = clock.run(
      async () => {
        const parts = [part(), part().then(part), part().then(part).then(part).then(part)];
        await Promise.all(parts);
        return "done";
      },
      { stallMs: 70 },
    );
    expect(await run).toBe("done");
  });

  it("is measured from the start and from the end of a hold", async () => {
    const holds: Disposable[] = [];
    const began = performance.now();
    const outcome = clock.run(never, { stallMs: 40 });
    setTimeout(() => holds.push(clock.hold("late")), 25);
    setTimeout(() => holds[0]?.[Symbol.dispose](), 50);
    await expect(outcome).rejects.toMatchObject({ facts: { holds: [] } });
    expect(performance.now() - began).toBeGreaterThanOrEqual(88);
  });

  it("uses the stallMs of the clock unless the call has its own", async () => {
    const clock = new FakeClock({ stallMs: 7 });
    clock.hold();
    await expect(clock.run(never)).rejects.toMatchObject({ facts: { stalled: 7 } });
    await expect(clock.step(1)).rejects.toMatchObject({ facts: { stalled: 7 } });
    await expect(clock.step(1, { stallMs: 3 })).rejects.toMatchObject({ facts: { stalled: 3 } });
  });

  it("is reported without a wait when stallMs is 0", async () => {
    let later = false;
    const timer = setTimeout(() => (later = true), 1_000);
    await expect(clock.run(never, { stallMs: 0 })).rejects.toBeInstanceOf(DeadlockError);
    clearTimeout(timer);
    expect(later).toBe(false);
  });

  it("gets no turn to release a hold when stallMs is 0", async () => {
    const hold = clock.hold();
    const outcome = clock.run(() => clock.sleep(1), { stallMs: 0 });
    setImmediate(() => hold[Symbol.dispose]());
    await expect(outcome).rejects.toBeInstanceOf(DeadlockError);
  });

  it.each([2 ** 31 - 1, 2 ** 31, Number.POSITIVE_INFINITY])(
    "is not declared before its time when stallMs is %d",
    async (stallMs) => {
      const late = new Promise((resolve) => setTimeout(resolve, 20, "late"));
      expect(await clock.run(() => late, { stallMs })).toBe("late");
    },
  );

  it("cancels its stall timer when the run has ended", async () => {
    const timers = () =>
      process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    await clock.run(() => new Promise<void>((resolve) => setTimeout(resolve, 2)));
    // A timer of the test runner may have ended meanwhile.
    expect(timers()).toBeLessThanOrEqual(before);
  });
});

describe("a livelock", () => {
  const spin = (delay: number, label?: string) => async (): Promise<never> => {
    for (;;) await clock.sleep(delay, { label });
  };

  it("at one instant is reported after 100,000 timers, by run, step and stepSync", async () => {
    const limit = "100000 timers fired without time moving";
    const error: LivelockError = await clock
      .run(spin(0, "spinner"), { turns: 0 })
      .catch((reason) => reason);
    expect(error).toBeInstanceOf(LivelockError);
    expect(error).toMatchObject({
      name: "LivelockError",
      code: "ERR_CLOCK_LIVELOCK",
      message: `${limit}; the last timer to fire: spinner`,
      fired: 100_001,
      last: "spinner",
    });
    clock[Symbol.dispose]();

    const timer = clock.afterFunc(5, () => {
      timer.reset(0);
    });
    const again = new LivelockError(limit, 100_002, undefined); // it was armed when so many had fired
    expect(again.message).toBe(`${limit}; the last timer to fire: (no label)`);
    await expect(clock.step(10, { turns: 0 })).rejects.toEqual(again);
    expect(() => clock.stepSync(10)).toThrow(again);
  });

  it("over time is reported after maxTimers have fired", async () => {
    const sleeps = (n: number) => async (): Promise<void> => {
      for (let index = 0; index < n; index++) await clock.sleep(1, { label: "last" });
    };
    await clock.run(sleeps(10), { maxTimers: 10 });
    const error: LivelockError = await clock
      .run(sleeps(11), { maxTimers: 10 })
      .catch((reason) => reason);
    expect(error).toMatchObject({
      message: "more than 10 timers fired (maxTimers); the last timer to fire: last",
      fired: 11,
      last: "last",
    });
  });

  it("is not mistaken for many timers of one instant", async () => {
    const sleeps = Array.from({ length: 100_002 }, () => clock.sleep(1_000));
    const ended = await clock.run(() => Promise.all(sleeps), { turns: 0, maxTimers: 100_002 });
    expect(ended).toHaveLength(100_002);
  });

  it("is not mistaken for many timers at many instants", async () => {
    for (let instant = 0; instant < 2; instant++)
      for (let index = 0; index < 60_000; index++) clock.newTimer(instant);
    clock.stepSync(3);
    expect(clock.waiters()).toBe(0);
  });
});
