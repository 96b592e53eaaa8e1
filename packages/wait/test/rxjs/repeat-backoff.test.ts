import { FakeClock } from "@holdfast/clock/testing";
import type { BackoffStrategy } from "@holdfast/wait";
import { type RepeatBackoffOptions, repeatBackoff } from "@holdfast/wait/rxjs";
import { defer, EMPTY, from, type Observable, Subject, type Subscription, throwError } from "rxjs";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Timeline, type TimelineEvent, timelineOf } from "../../../../test/timeline.ts";
import { marbles } from "./marbles.ts";
import { noting } from "./noting.ts";

const refused = new Error("refused");
const doubling = { duration: 100, factor: 2 };

describe("repeatBackoff", () => {
  let clock: FakeClock;
  let timeline: Timeline;

  beforeEach(() => {
    clock = new FakeClock();
    timeline = timelineOf(clock);
  });

  /** Notes each subscription, emits the next of these runs and completes; later runs are empty. */
  function runs(...values: readonly string[][]): Observable<string> {
    const left = [...values];
    return defer(() => {
      timeline.note("run");
      return from(left.shift() ?? []);
    });
  }

  function start(
    source: Observable<unknown>,
    options: Partial<RepeatBackoffOptions>,
  ): Subscription {
    return source
      .pipe(repeatBackoff({ backoff: doubling, clock, ...options }))
      .subscribe(noting(timeline));
  }

  /** The events of a source that is always empty. */
  function eventsOf(options: Partial<RepeatBackoffOptions>): TimelineEvent[] {
    start(runs(), options);
    clock.stepSync(10_000);
    expect(clock.waiters()).toBe(0);
    return timeline.events;
  }

  it("subscribes again after growing delays from the end of each run", () => {
    marbles(({ clock: time, cold, expectObservable, expectSubscriptions }) => {
      const source = cold("-a|");
      const options = { backoff: { duration: 2, factor: 2 }, repeats: 3, clock: time };
      // Two frames until the end, then delays of 2, 4 and 8.
      expectObservable(source.pipe(repeatBackoff(options))).toBe("-a---a-----a---------a|");
      expectSubscriptions(source.subscriptions).toBe([
        "^-!",
        "----^-!",
        "----------^-!",
        "--------------------^-!",
      ]);
    });
  });

  it("repeats forever without a limit", () => {
    const subscription = start(runs(), { backoff: { duration: 1 } });
    clock.stepSync(500);
    expect(timeline.events).toHaveLength(501);
    subscription.unsubscribe();
    expect(clock.waiters()).toBe(0);
  });

  it("keeps separate delays and limits for each subscription", () => {
    const strategy: BackoffStrategy = { delayFunc: vi.fn(() => () => 30) };
    const repeated = runs().pipe(repeatBackoff({ backoff: strategy, repeats: 1, clock }));
    repeated.subscribe(noting(timeline));
    repeated.subscribe(noting(timeline));
    clock.stepSync(1_000);
    expect(timeline.events).toEqual([
      [0, "run"],
      [0, "run"],
      [30, "run"],
      [30, "completed"],
      [30, "run"],
      [30, "completed"],
    ]);
    expect(strategy.delayFunc).toHaveBeenCalledTimes(2);
  });

  it.each([
    [0, [0]],
    [1, [0, 100]],
    [3, [0, 100, 300, 700]],
  ])("completes after %d repeats, without a delay at the end", (repeats, starts) => {
    expect(eventsOf({ repeats })).toEqual([
      ...starts.map((at) => [at, "run"]),
      [starts.at(-1), "completed"],
    ]);
  });

  it.each([
    [0, [0]],
    [99, [0]],
    [100, [0, 100]],
    [299, [0, 100]],
    [300, [0, 100, 300]],
  ])("completes if the next run would start after %d ms", (maxElapsed, starts) => {
    expect(eventsOf({ maxElapsed })).toEqual([
      ...starts.map((at) => [at, "run"]),
      [starts.at(-1), "completed"],
    ]);
  });

  it("resets delays, repeats and elapsed time after a run with values, with resetOnSuccess", () => {
    start(runs(["a", "b"], [], [], ["c"]), {
      repeats: 3,
      maxElapsed: 350,
      resetOnSuccess: true,
    });
    clock.stepSync(10_000);
    expect(timeline.events).toEqual([
      [0, "run"],
      [0, "a"],
      [0, "b"],
      [100, "run"],
      [300, "run"],
      [300, "completed"],
    ]);
    timeline = timelineOf(clock);
    start(runs([], [], ["c"], []), { repeats: 2, maxElapsed: 300, resetOnSuccess: true });
    clock.stepSync(10_000);
    expect(timeline.events).toEqual([
      [0, "run"],
      [100, "run"],
      [300, "run"],
      [300, "c"],
      [400, "run"],
      [600, "run"],
      [600, "completed"],
    ]);
  });

  it("resets nothing without resetOnSuccess", () => {
    start(runs(["a"], ["b"], ["c"]), { repeats: 2 });
    clock.stepSync(10_000);
    expect(timeline.events).toEqual([
      [0, "run"],
      [0, "a"],
      [100, "run"],
      [100, "b"],
      [300, "run"],
      [300, "c"],
      [300, "completed"],
    ]);
  });

  it("fails at once with an error of the source", () => {
    let call = 0;
    start(
      defer(() => (++call < 3 ? EMPTY : throwError(() => refused))),
      {},
    );
    clock.stepSync(10_000);
    expect(timeline.events).toEqual([[300, ["failed", refused]]]);
    expect(clock.waiters()).toBe(0);
  });

  it.each([true, false])(
    "fails with an error of its strategy (synchronous source: %s)",
    (atOnce) => {
      const bug = new Error("bug");
      const strategy: BackoffStrategy = {
        delayFunc() {
          throw bug;
        },
      };
      const source = new Subject<string>();
      start(atOnce ? EMPTY : source, { backoff: strategy });
      source.complete();
      expect(timeline.events).toEqual([[0, ["failed", bug]]]);
    },
  );

  it("stops the timer when unsubscribed during a delay", () => {
    const subscription = start(runs(), {});
    clock.stepSync(150);
    expect(clock.waiters()).toBe(1);
    subscription.unsubscribe();
    expect(clock.waiters()).toBe(0);
    clock.stepSync(10_000);
    expect(timeline.events).toEqual([
      [0, "run"],
      [100, "run"],
    ]);
  });

  it("unsubscribes from the source when unsubscribed during a run", () => {
    const source = new Subject<never>();
    const subscription = start(source, {});
    expect(source.observed).toBe(true);
    subscription.unsubscribe();
    expect(source.observed).toBe(false);
  });
});
