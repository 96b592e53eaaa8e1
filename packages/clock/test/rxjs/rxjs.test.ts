import { AsyncLocalStorage } from "node:async_hooks";
import { BaseClock, type Clock, realClock, type Timer } from "@holdfast/clock";
import { asScheduler, fromScheduler } from "@holdfast/clock/rxjs";
import { FakeClock } from "@holdfast/clock/testing";
import {
  asyncScheduler,
  firstValueFrom,
  interval,
  lastValueFrom,
  map,
  Observable,
  queueScheduler,
  type SchedulerAction,
  type SchedulerLike,
  take,
  timer,
  toArray,
  VirtualTimeScheduler,
} from "rxjs";
import { TestScheduler } from "rxjs/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";

const NEVER = Number.POSITIVE_INFINITY;

/** Fires every timer 25 ms late, except after a reset. */
class LateClock extends BaseClock {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }

  override now(): number {
    return this.#clock.now();
  }

  override monotonic(): number {
    return this.#clock.monotonic();
  }

  override afterFunc(delay: number, fire: () => void): Timer {
    return this.#clock.afterFunc(delay + 25, fire);
  }
}

describe("asScheduler", () => {
  let clock: FakeClock;
  let scheduler: SchedulerLike;
  let start: number;
  let events: [number, unknown][];
  const note = (event: unknown): void => {
    events.push([clock.monotonic() - start, event]);
  };

  beforeEach(() => {
    clock = new FakeClock();
    scheduler = asScheduler(clock);
    start = clock.monotonic();
    events = [];
  });

  it("reads the wall clock and schedules by the monotonic one", async () => {
    interval(100, scheduler).subscribe(note);
    await clock.step(150);
    clock.setSystemTime(0);
    expect(scheduler.now()).toBe(0);
    await clock.step(100);
    expect(events).toEqual([
      [100, 0],
      [200, 1],
    ]);
  });

  it("passes state to the work and the action as this", async () => {
    const action = scheduler.schedule<string>(
      function (state) {
        note([state, this === action]);
      },
      10,
      "state",
    );
    await clock.step(10);
    expect(events).toEqual([[10, ["state", true]]]);
  });

  it("calls work again only when the work schedules itself, then or later", async () => {
    const action = scheduler.schedule(note, 10, "first") as SchedulerAction<string>;
    await clock.step(100);
    action.schedule("second", 5);
    await clock.step(100);
    expect(events).toEqual([
      [10, "first"],
      [105, "second"],
    ]);
    expect(action.closed).toBe(false);
  });

  it("counts the same delay from now when other code schedules it after the work", async () => {
    const action = scheduler.schedule(note, 10, "first") as SchedulerAction<string>;
    await clock.step(14);
    action.schedule("second", 10);
    await clock.step(100);
    expect(events).toEqual([
      [10, "first"],
      [24, "second"],
    ]);
  });

  it("postpones work that is scheduled again while it waits", async () => {
    const action = scheduler.schedule(note, 10, "first") as SchedulerAction<string>;
    await clock.step(5);
    action.schedule("second", 10);
    await clock.step(100);
    expect(events).toEqual([[15, "second"]]);
  });

  it("counts the second of two schedules inside the work from now", async () => {
    let calls = 0;
    scheduler.schedule(function () {
      note(calls);
      if (++calls > 1) return;
      this.schedule(undefined, 10);
      this.schedule(undefined, 10);
    }, 10);
    await clock.step(100);
    expect(events).toEqual([
      [10, 0],
      [20, 1],
    ]);
  });

  it("stays on its grid for fractions of a millisecond", async () => {
    const last = lastValueFrom(interval(0.1, scheduler).pipe(take(1_000)));
    await clock.step(99.9);
    expect(clock.waiters()).toBe(1);
    await clock.step(0.1);
    expect(clock.waiters()).toBe(0);
    expect(await last).toBe(999);
  });

  it("repeats without a delay at one instant", () => {
    interval(0, scheduler).pipe(take(3)).subscribe(note);
    clock.stepSync(0);
    expect(events).toEqual([
      [0, 0],
      [0, 1],
      [0, 2],
    ]);
  });

  it("skips the points of the grid that were missed, without a burst", () => {
    interval(10, asScheduler(new LateClock(clock))).subscribe(note);
    clock.stepSync(60);
    expect(events).toEqual([
      [35, 0],
      [40, 1],
      [50, 2],
      [60, 3],
    ]);
  });

  it("never calls work with an infinite delay, and arms nothing for it", async () => {
    const action = scheduler.schedule(note, NEVER, "never") as SchedulerAction<string>;
    timer(NEVER, scheduler).subscribe(note);
    expect(clock.waiters()).toBe(0);
    action.schedule("now", 5);
    expect(clock.waiters()).toBe(1);
    action.schedule("never", NEVER);
    expect(clock.waiters()).toBe(0);
    await clock.step(1e9);
    expect(events).toEqual([]);
  });

  it("unsubscribes work with an infinite delay", () => {
    const subscription = timer(NEVER, scheduler).subscribe(note);
    subscription.unsubscribe();
    expect([subscription.closed, clock.waiters()]).toEqual([true, 0]);
  });

  it("treats a delay below 0, and a missing one, as 0", async () => {
    scheduler.schedule(() => note("below"), -5);
    scheduler.schedule(() => note("none"));
    await clock.step(0);
    expect(events).toEqual([
      [0, "below"],
      [0, "none"],
    ]);
  });

  it("waits longer than 2^31-1 ms", async () => {
    timer(2 ** 32, scheduler).subscribe(note);
    await clock.step(2 ** 32 - 1);
    expect(events).toEqual([]);
    await clock.step(1);
    expect(events).toEqual([[2 ** 32, 0]]);
  });

  it("leaves no timer when unsubscribed, outside the work and inside", async () => {
    interval(10, scheduler).subscribe(note).unsubscribe();
    scheduler.schedule(function () {
      note("inside");
      this.unsubscribe();
      this.schedule(undefined, 10);
    }, 10);
    await clock.step(100);
    expect(events).toEqual([[10, "inside"]]);
    expect(clock.waiters()).toBe(0);
  });

  it("ends work that throws and passes the error to the clock", async () => {
    const thrown = new Error("work");
    const action = scheduler.schedule(function () {
      this.schedule(undefined, 10);
      throw thrown;
    }, 10);
    scheduler.schedule(() => note("other"), 10);
    await expect(clock.step(20)).rejects.toBe(thrown);
    expect([action.closed, clock.waiters()]).toEqual([true, 1]);
    await clock.step(10);
    expect(events).toEqual([[10, "other"]]);
  });

  it("works with promises, unlike virtual time", async () => {
    const values = await clock.run(async () => {
      const first = await firstValueFrom(timer(1_000, scheduler));
      await clock.sleep(500);
      return [first, ...(await lastValueFrom(interval(250, scheduler).pipe(take(2), toArray())))];
    });
    expect([values, clock.monotonic() - start]).toEqual([[0, 0, 1], 2_000]);
  });

  it("is never early on the real clock", async () => {
    const began = realClock.monotonic();
    const ticks = interval(5, asScheduler(realClock)).pipe(
      take(10),
      map(() => realClock.monotonic() - began),
      toArray(),
    );
    const instants = await lastValueFrom(ticks);
    expect(instants.filter((at, index) => at < (index + 1) * 5)).toEqual([]);
  });

  it("keeps the AsyncLocalStorage context of the schedule call", async () => {
    const store = new AsyncLocalStorage<string>();
    store.run("caller", () =>
      interval(10, scheduler)
        .pipe(take(2))
        .subscribe(() => note(store.getStore())),
    );
    await store.run("driver", () => clock.step(20));
    expect(events).toEqual([
      [10, "caller"],
      [20, "caller"],
    ]);
  });

  it("refuses a clock, work or delay of the wrong type", () => {
    expect(() => asScheduler({} as Clock)).toThrow(TypeError);
    expect(() => scheduler.schedule(undefined as never)).toThrow(TypeError);
    expect(() => scheduler.schedule(note, Number.NaN)).toThrow(RangeError);
    expect(clock.waiters()).toBe(0);
  });
});

describe("fromScheduler over a scheduler that runs work while it is being scheduled", () => {
  it("ends a sleep of 0 and leaves no listener on its signal", async () => {
    const { signal } = new AbortController();
    await fromScheduler(queueScheduler).sleep(0, { signal });
    expect(abortListeners(signal)).toBe(0);
  });
});

describe("fromScheduler over virtual time", () => {
  let scheduler: VirtualTimeScheduler;
  let clock: Clock;
  let events: [number, unknown][];
  const note = (event: unknown): void => {
    events.push([scheduler.now(), event]);
  };

  beforeEach(() => {
    scheduler = new VirtualTimeScheduler();
    clock = fromScheduler(scheduler);
    events = [];
  });

  it("fires in the order of deadlines, then of arming, at whole milliseconds", () => {
    for (const delay of [30, 10, 0.5, 30, 0])
      clock.afterFunc(delay, () => note([delay, clock.now(), clock.monotonic()]));
    scheduler.flush();
    expect(events).toEqual([
      [0, [0, 0, 0]],
      [1, [0.5, 1, 1]],
      [10, [10, 10, 10]],
      [30, [30, 30, 30]],
      [30, [30, 30, 30]],
    ]);
  });

  it("stops and resets timers, also from callbacks", () => {
    const victim = clock.afterFunc(20, () => note("victim"));
    const repeated = clock.afterFunc(10, () => {
      note(victim.stop());
      if (scheduler.now() < 30) repeated.reset(10);
    });
    scheduler.flush();
    expect(events).toEqual([
      [10, true],
      [20, false],
      [30, false],
    ]);
  });

  it("waits forever and for longer than 2^31-1 ms without keeping a flush from its end", () => {
    const never = clock.newTimer(NEVER);
    clock.afterFunc(2 ** 40, () => note("fired"));
    scheduler.flush();
    expect(events).toEqual([[2 ** 40, "fired"]]);
    expect([never.active, never.deadline, never.stop()]).toEqual([true, NEVER, true]);
  });

  it("resolves a sleep in a flush and continues the code after it later", async () => {
    const slept = clock.sleep(10).then(() => note("after the flush"));
    clock.afterFunc(20, () => note("callback"));
    scheduler.flush();
    await slept;
    expect(events).toEqual([
      [20, "callback"],
      [20, "after the flush"],
    ]);
  });

  it("keeps the AsyncLocalStorage context of afterFunc", () => {
    const store = new AsyncLocalStorage<string>();
    store.run("caller", () => clock.afterFunc(10, () => note(store.getStore())));
    store.run("driver", () => scheduler.flush());
    expect(events).toEqual([[10, "caller"]]);
  });

  it("throws the error of a callback from the flush", () => {
    const thrown = new Error("callback");
    clock.afterFunc(10, () => {
      throw thrown;
    });
    expect(() => scheduler.flush()).toThrow(thrown);
  });

  it("does not go back with the scheduler, and continues from there", () => {
    let now = 1_000;
    const jumping = fromScheduler({ now: () => now, schedule: scheduler.schedule.bind(scheduler) });
    const seen = [1_000, 1_500, 200, 300, 100, 700].map((instant) => {
      now = instant;
      return jumping.monotonic() - 1_000;
    });
    expect(seen).toEqual([0, 500, 500, 600, 600, 1_200]);
    expect(jumping.now()).toBe(700);
  });

  it("sleeps on the original clock when it wraps asScheduler", async () => {
    const fake = new FakeClock();
    const start = fake.monotonic();
    const round = fromScheduler(asScheduler(fake));
    await fake.run(async () => {
      await round.sleep(1_000);
      expect(fake.monotonic() - start).toBe(1_000);
    });
  });

  it("refuses a value that is not a scheduler", () => {
    expect(() => fromScheduler({} as SchedulerLike)).toThrow(TypeError);
  });
});

describe("fromScheduler in a marble test", () => {
  /** Emits its number of the tick at every period, until unsubscribed. */
  function ticks(clock: Clock, period: number): Observable<string> {
    return new Observable((subscriber) => {
      let count = 0;
      const timer = clock.afterFunc(period, () => {
        subscriber.next(String(count++));
        timer.reset(period);
      });
      return () => timer.stop();
    });
  }

  const marbles = () => new TestScheduler((actual, expected) => expect(actual).toEqual(expected));

  it("is driven by marbles", () => {
    const scheduler = marbles();
    const clock = fromScheduler(scheduler);
    scheduler.run(({ expectObservable }) => {
      expectObservable(ticks(clock, 3), "----------!").toBe("---0--1--2");
      expectObservable(ticks(clock, 60_000), "180001ms !").toBe("1m 0 59999ms 1 59999ms 2");
    });
  });

  it("is driven by marbles over asyncScheduler, created before or during the run", () => {
    const clock = fromScheduler(asyncScheduler);
    marbles().run(({ expectObservable }) => {
      expectObservable(ticks(clock, 3), "----------!").toBe("---0--1--2");
    });
  });
});

describe("fromScheduler over asyncScheduler", () => {
  const clock = fromScheduler(asyncScheduler);

  afterEach(() => vi.useRealTimers());

  it("is never early on its own monotonic clock", async () => {
    for (const delay of [1, 2.5, 5]) {
      const start = clock.monotonic();
      await clock.sleep(delay);
      expect(clock.monotonic() - start).toBeGreaterThanOrEqual(delay);
    }
  });

  it("corrects a scheduler that fires a millisecond early", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    const timer = clock.newTimer(10);
    vi.setSystemTime(Date.now() - 1);
    vi.advanceTimersByTime(10);
    expect(timer.active).toBe(true);
    vi.advanceTimersByTime(1);
    expect(timer.active).toBe(false);
  });

  it("corrects a scheduler that truncates fractions as well", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    const timer = clock.newTimer(2.5);
    vi.setSystemTime(Date.now() - 1);
    vi.advanceTimersByTime(3);
    expect(timer.active).toBe(true);
    vi.advanceTimersByTime(1);
    expect(timer.active).toBe(false);
  });

  it("waits longer than 2^31-1 ms", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    const timer = clock.newTimer(2 ** 32 + 5);
    vi.advanceTimersByTime(2 ** 32 + 4);
    expect(timer.active).toBe(true);
    vi.advanceTimersByTime(1);
    expect([timer.active, vi.getTimerCount()]).toEqual([false, 0]);
  });

  it("leaves no timer when stopped", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    const stop = new AbortController();
    const slept = clock.sleep(10, { signal: stop.signal });
    expect(vi.getTimerCount()).toBe(1);
    stop.abort("enough");
    expect(vi.getTimerCount()).toBe(0);
    return expect(slept).rejects.toBe("enough");
  });
});
