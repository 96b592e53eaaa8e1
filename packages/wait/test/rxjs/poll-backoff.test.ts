import { FakeClock } from "@holdfast/clock/testing";
import { RetryAfterError, TerminalError, TimeoutError } from "@holdfast/wait";
import { type PollBackoffOptions, pollBackoff } from "@holdfast/wait/rxjs";
import {
  defer,
  from,
  NEVER,
  type Observable,
  of,
  Subject,
  type Subscription,
  throwError,
} from "rxjs";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Timeline, timelineOf } from "../../../../test/timeline.ts";
import { marbles } from "./marbles.ts";
import { noting } from "./noting.ts";

const refused = new Error("refused");
const doubling = { duration: 100, factor: 2 };
const isReady = (value: string) => value === "ready";

describe("pollBackoff", () => {
  let clock: FakeClock;
  let timeline: Timeline;

  beforeEach(() => {
    clock = new FakeClock();
    timeline = timelineOf(clock);
  });

  /** Notes each subscription and emits the next of these values; repeats the last one. */
  function answering(...answers: readonly string[][]): Observable<string> {
    let call = 0;
    return defer(() => {
      timeline.note("subscribe");
      return from(answers[Math.min(call++, answers.length - 1)] as string[]);
    });
  }

  function start(source: Observable<string>, options: Partial<PollBackoffOptions>): Subscription {
    return source
      .pipe(pollBackoff(isReady, { backoff: doubling, clock, ...options }))
      .subscribe(noting(timeline));
  }

  it("waits after a RetryAfterError and continues, within the timeout", () => {
    const errors = [new RetryAfterError(5_000), new RetryAfterError(5_000)];
    const source = defer(() => {
      timeline.note("subscribe");
      const error = errors.shift();
      return error === undefined ? of("ready") : throwError(() => error);
    });
    start(source, { timeout: 20_000 });
    clock.stepSync(10_000);
    expect(timeline.events.map(([at]) => at)).toEqual([0, 5_000, 10_000, 10_000, 10_000]);
    timeline.events.length = 0;
    start(
      throwError(() => new RetryAfterError(5_000)),
      { timeout: 1_000 },
    );
    clock.stepSync(1_000);
    expect(timeline.events).toEqual([[11_000, ["failed", new TimeoutError(1_000)]]]);
    expect(clock.waiters()).toBe(0);
  });

  it("fails at once with a TerminalError, and with a RetryAfterError that names Infinity", () => {
    const wrapped = new RetryAfterError(5, { cause: new TerminalError("no") });
    for (const error of [wrapped, new RetryAfterError(Number.POSITIVE_INFINITY)]) {
      timeline.events.length = 0;
      start(
        throwError(() => error),
        {},
      );
      expect(timeline.events).toEqual([[0, ["failed", error]]]);
    }
  });

  it("subscribes until a value matches, and emits only that value", () => {
    marbles(({ clock: time, cold, expectObservable, expectSubscriptions }) => {
      const questions = [cold("-a|"), cold("-a|"), cold("-b-a|")] as const;
      let call = 0;
      const source = defer(() => questions[call++] as Observable<string>);
      const options = { backoff: { duration: 2, factor: 2 }, timeout: 60_000, clock: time };
      const polled = source.pipe(pollBackoff((value) => value === "b", options));
      // Two frames until each value, then delays of 2 and 4.
      expectObservable(polled).toBe("-----------(b|)");
      expectSubscriptions(questions[2].subscriptions).toBe("----------^!");
    });
  });

  it("subscribes at once, and only once if the first value matches", () => {
    start(answering(["ready", "not any more"]), { timeout: 1_000 });
    expect(timeline.events).toEqual([
      [0, "subscribe"],
      [0, "ready"],
      [0, "completed"],
    ]);
    expect(clock.waiters()).toBe(0);
  });

  it("passes each value to until, and nothing else", () => {
    const until = vi.fn((..._: unknown[]) => false);
    of("a", "b")
      .pipe(pollBackoff(until, { backoff: doubling, clock }))
      .subscribe()
      .unsubscribe();
    expect(until.mock.calls).toEqual([["a"], ["b"]]);
    expect(clock.waiters()).toBe(0);
  });

  it("continues forever without a timeout", () => {
    const subscription = start(answering(["no"]), { backoff: { duration: 1_000 } });
    clock.stepSync(500_000);
    expect(timeline.events).toHaveLength(501);
    subscription.unsubscribe();
    expect(clock.waiters()).toBe(0);
  });

  describe("fails with a TimeoutError when the timeout expires", () => {
    it.each([
      [99, [0]],
      [100, [0]],
      [101, [0, 100]],
      [300, [0, 100]],
      [1_000, [0, 100, 300, 700]],
    ])("during a delay or at its end, after %d ms", (timeout, subscribedAt) => {
      start(answering(["no"]), { timeout });
      clock.stepSync(10_000);
      expect(timeline.events).toEqual([
        ...subscribedAt.map((at) => [at, "subscribe"]),
        [timeout, ["failed", new TimeoutError(timeout)]],
      ]);
      expect(clock.waiters()).toBe(0);
    });

    it("during a subscription to the source", () => {
      const source = new Subject<string>();
      start(source, { timeout: 1_000 });
      clock.stepSync(999);
      expect([timeline.events, source.observed]).toEqual([[], true]);
      clock.stepSync(1);
      expect(timeline.events).toEqual([[1_000, ["failed", new TimeoutError(1_000)]]]);
      expect([clock.waiters(), source.observed]).toEqual([0, false]);
    });

    it("after any number of other values", () => {
      const source = new Subject<string>();
      start(source, { timeout: 1_000 });
      clock.stepSync(600);
      source.next("no");
      clock.stepSync(400);
      expect(timeline.events).toEqual([[1_000, ["failed", new TimeoutError(1_000)]]]);
    });

    it("with a timeout of 0, unless the source emits a match at once", () => {
      start(answering(["ready"]), { timeout: 0 });
      start(NEVER, { timeout: 0 });
      clock.stepSync(0);
      expect(timeline.events).toEqual([
        [0, "subscribe"],
        [0, "ready"],
        [0, "completed"],
        [0, ["failed", new TimeoutError(0)]],
      ]);
    });
  });

  it("fails at once with an error of the source", () => {
    start(
      throwError(() => refused),
      { timeout: 1_000 },
    );
    expect(timeline.events).toEqual([[0, ["failed", refused]]]);
    expect(clock.waiters()).toBe(0);
  });

  it("fails at once with an error of until", () => {
    const bug = new Error("bug");
    const broken = () => {
      throw bug;
    };
    NEVER.pipe(pollBackoff(broken, { backoff: doubling, clock }))
      .subscribe()
      .unsubscribe();
    answering(["no"])
      .pipe(pollBackoff(broken, { backoff: doubling, timeout: 1_000, clock }))
      .subscribe(noting(timeline));
    expect(timeline.events).toEqual([
      [0, "subscribe"],
      [0, ["failed", bug]],
    ]);
    expect(clock.waiters()).toBe(0);
  });

  it.each([50, 150])("stops its timers when unsubscribed after %d ms", (at) => {
    const subscription = start(answering(["no"]), { timeout: 1_000 });
    clock.stepSync(at);
    expect(clock.waiters()).toBe(2);
    subscription.unsubscribe();
    expect(clock.waiters()).toBe(0);
    const before = timeline.events.length;
    clock.stepSync(10_000);
    expect(timeline.events).toHaveLength(before);
  });
});
