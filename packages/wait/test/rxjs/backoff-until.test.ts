import { FakeClock } from "@holdfast/clock/testing";
import {
  type BackoffManager,
  ExponentialBackoffManager,
  JitteredBackoffManager,
} from "@holdfast/wait";
import { backoffUntil$ } from "@holdfast/wait/rxjs";
import { config, take } from "rxjs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { type Timeline, timelineOf } from "../../../../test/timeline.ts";
import { noting } from "./noting.ts";

describe("backoffUntil$", () => {
  let clock: FakeClock;
  let timeline: Timeline;

  beforeEach(() => {
    clock = new FakeClock();
    timeline = timelineOf(clock);
  });

  afterEach(() => {
    config.onStoppedNotification = null;
    expect(clock.waiters()).toBe(0);
  });

  const growing = () => new ExponentialBackoffManager({ duration: 100, factor: 2, clock });
  const every = (duration: number) => () => new JitteredBackoffManager({ duration, clock });

  it.each([true, false])("emits the value of each call (sliding: %s)", async (sliding) => {
    let calls = 0;
    const results = backoffUntil$(() => ++calls, growing, sliding);
    const subscription = results.subscribe(noting(timeline));
    await clock.step(750);
    subscription.unsubscribe();
    await clock.step(10_000);
    expect(timeline.events).toEqual([
      [0, 1],
      [100, 2],
      [300, 3],
      [700, 4],
    ]);
  });

  it.each([
    [true, [300, 1_600, 2_900]],
    [false, [300, 1_300, 2_300]],
  ])(
    "emits when a call resolves, and calls again one delay later (sliding: %s)",
    async (sliding, at) => {
      const work = async () => {
        await clock.sleep(300);
        return "done";
      };
      backoffUntil$(work, every(1_000), sliding).pipe(take(3)).subscribe(noting(timeline));
      await clock.step(10_000);
      expect(timeline.events).toEqual([
        ...at.map((instant) => [instant, "done"]),
        [at.at(-1), "completed"],
      ]);
    },
  );

  it("calls nothing before the subscription, and creates a manager for each subscription", async () => {
    const newManager = vi.fn(growing);
    const f = vi.fn(() => "done");
    const results = backoffUntil$(f, newManager, true).pipe(take(3));
    expect([newManager.mock.calls, f.mock.calls]).toEqual([[], []]);
    results.subscribe(noting(timeline));
    await clock.step(50);
    results.subscribe(noting(timeline));
    await clock.step(10_000);
    expect(newManager).toHaveBeenCalledTimes(2);
    expect(timeline.events).toEqual([
      [0, "done"],
      [50, "done"],
      [100, "done"],
      [150, "done"],
      [300, "done"],
      [300, "completed"],
      [350, "done"],
      [350, "completed"],
    ]);
  });

  describe("when unsubscribed", () => {
    it.each([true, false])(
      "during a delay, stops the timer at once (sliding: %s)",
      async (sliding) => {
        const subscription = backoffUntil$(() => "done", every(1_000), sliding).subscribe();
        await clock.step(500);
        expect(clock.waiters()).toBe(1);
        subscription.unsubscribe();
        expect(clock.waiters()).toBe(0);
      },
    );

    it.each([true, false])(
      "during a call, aborts its signal and emits no more (sliding: %s)",
      async (sliding) => {
        const work = async (signal: AbortSignal) => {
          signal.addEventListener("abort", () => timeline.note("aborted"), { once: true });
          await clock.sleep(300);
          return "too late";
        };
        const subscription = backoffUntil$(work, every(1_000), sliding).subscribe(noting(timeline));
        await clock.step(100);
        subscription.unsubscribe();
        await clock.step(10_000);
        expect(timeline.events).toEqual([[100, "aborted"]]);
      },
    );

    it("during the first call, emits nothing", async () => {
      const subscription = backoffUntil$(() => "done", growing, true).subscribe(noting(timeline));
      subscription.unsubscribe();
      await clock.step(10_000);
      expect(timeline.events).toEqual([]);
    });

    it("leaves no listener on the signal of its work", async () => {
      const signals = new Set<AbortSignal>();
      backoffUntil$((signal) => signals.add(signal), growing, true)
        .pipe(take(3))
        .subscribe();
      await clock.step(10_000);
      expect([...signals].map((signal) => [signal.aborted, abortListeners(signal)])).toEqual([
        [true, 0],
      ]);
    });

    it("passes an error of the running call to config.onStoppedNotification", async () => {
      const bug = new Error("bug");
      const stopped = vi.fn();
      config.onStoppedNotification = stopped;
      const work = async () => {
        await clock.sleep(300);
        throw bug;
      };
      const subscription = backoffUntil$(work, growing, true).subscribe(noting(timeline));
      await clock.step(100);
      subscription.unsubscribe();
      await clock.step(10_000);
      expect(timeline.events).toEqual([]);
      await expect.poll(() => stopped).toHaveBeenCalled(); // a timer of rxjs' own
      expect(stopped.mock.calls.map(([error]) => error)).toContainEqual(
        expect.objectContaining({ kind: "E", error: bug }),
      );
    });
  });

  describe("when a call fails", () => {
    const bug = new Error("bug");
    const failing = {
      throws() {
        throw bug;
      },
      rejects: () => Promise.reject(bug),
    };

    it.each(["throws", "rejects"] as const)("fails with the error that it %s with", async (how) => {
      backoffUntil$(failing[how], growing, false).subscribe(noting(timeline));
      await clock.step(10_000);
      expect(timeline.events).toEqual([[0, ["failed", bug]]]);
    });

    it("passes the error to onError and continues after the normal delay", async () => {
      let calls = 0;
      const work = () => {
        if (++calls % 2 === 1) throw bug;
        return calls;
      };
      const onError = (error: unknown) => timeline.note(["handed", error]);
      backoffUntil$(work, growing, true, { onError }).pipe(take(2)).subscribe(noting(timeline));
      await clock.step(10_000);
      expect(timeline.events).toEqual([
        [0, ["handed", bug]],
        [100, 2],
        [300, ["handed", bug]],
        [700, 4],
        [700, "completed"],
      ]);
    });

    it("fails with an error of onError", async () => {
      const second = new Error("second");
      const onError = () => {
        throw second;
      };
      backoffUntil$(failing.throws, growing, true, { onError }).subscribe(noting(timeline));
      await clock.step(10_000);
      expect(timeline.events).toEqual([[0, ["failed", second]]]);
    });
  });

  it("completes if other code stops the timer", async () => {
    const manager = every(1_000)();
    backoffUntil$(
      () => "done",
      () => manager,
      true,
    ).subscribe(noting(timeline));
    await clock.step(500);
    manager.backoff().stop();
    await clock.step(500);
    expect(timeline.events).toEqual([
      [0, "done"],
      [500, "completed"],
    ]);
  });

  it("fails with an error of newManager", async () => {
    const bug = new Error("bug");
    const broken = () => {
      throw bug;
    };
    const none = (() => ({})) as () => BackoffManager;
    const f = vi.fn();
    backoffUntil$(f, broken, true).subscribe(noting(timeline));
    backoffUntil$(f, none, true).subscribe(noting(timeline));
    await clock.step(0);
    expect(timeline.events).toEqual([
      [0, ["failed", bug]],
      [0, ["failed", new TypeError("manager must have a method backoff(), got [object Object]")]],
    ]);
    expect(f).not.toHaveBeenCalled();
  });
});
