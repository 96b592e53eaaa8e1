import { FakeClock } from "@holdfast/clock/testing";
import { Backoff, type BackoffStrategy, RetryAfterError, TerminalError } from "@holdfast/wait";
import { backoffDelay } from "@holdfast/wait/rxjs";
import { concat, defer, type Observable, of, retry, throwError } from "rxjs";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Timeline, timelineOf } from "../../../../test/timeline.ts";
import { marbles } from "./marbles.ts";
import { noting } from "./noting.ts";

const refused = new Error("refused");

describe("backoffDelay", () => {
  let clock: FakeClock;
  let timeline: Timeline;

  beforeEach(() => {
    clock = new FakeClock();
    timeline = timelineOf(clock);
  });

  /** Notes each subscription and then fails. */
  const failing = (name = "try"): Observable<never> =>
    defer(() => {
      timeline.note(name);
      return throwError(() => refused);
    });

  it("fails at once with a TerminalError, and with a RetryAfterError that names Infinity", () => {
    for (const error of [new TerminalError("no"), new RetryAfterError(Number.POSITIVE_INFINITY)]) {
      timeline.events.length = 0;
      const delay = backoffDelay({ duration: 100 }, { clock });
      throwError(() => error)
        .pipe(retry({ delay }))
        .subscribe(noting(timeline));
      expect(timeline.events).toEqual([[0, ["failed", error]]]);
    }
  });

  it("waits as long as a RetryAfterError names, and advances the backoff", () => {
    const errors = [new RetryAfterError(5_000), refused];
    const source = defer(() => {
      timeline.note("try");
      return throwError(() => errors.shift() ?? refused);
    });
    const delay = backoffDelay({ duration: 100, factor: 2 }, { clock });
    source.pipe(retry({ count: 2, delay })).subscribe(noting(timeline));
    clock.stepSync(10_000);
    const tries = timeline.events.filter(([, event]) => event === "try");
    expect(tries.map(([at]) => at)).toEqual([0, 5_000, 5_200]);
  });

  it("supplies growing delays to retry, whose count ends with the last error", () => {
    marbles(({ clock: time, cold, expectObservable, expectSubscriptions }) => {
      const source = cold("-a#", undefined, refused);
      const delay = backoffDelay({ duration: 2, factor: 2 }, { clock: time });
      // Two frames until the failure, then delays of 2, 4 and 8.
      expectObservable(source.pipe(retry({ count: 3, delay }))).toBe(
        "-a---a-----a---------a#",
        undefined,
        refused,
      );
      expectSubscriptions(source.subscriptions).toBe([
        "^-!",
        "----^-!",
        "----------^-!",
        "--------------------^-!",
      ]);
    });
  });

  it("starts over with the retry count", () => {
    const delay = backoffDelay({ duration: 100, factor: 2 }, { clock });
    let tries = 0;
    const source = defer(() => {
      timeline.note("try");
      return ++tries === 3
        ? concat(
            of("value"),
            throwError(() => refused),
          )
        : failing("fail");
    });
    source.pipe(retry({ count: 2, delay, resetOnSuccess: true })).subscribe(noting(timeline));
    clock.stepSync(10_000);
    expect(timeline.events).toEqual([
      [0, "try"],
      [0, "fail"],
      [100, "try"],
      [100, "fail"],
      [300, "try"],
      [300, "value"],
      [400, "try"],
      [400, "fail"],
      [600, "try"],
      [600, "fail"],
      [600, ["failed", refused]],
    ]);
  });

  it("starts every subscription at the first delay, also if they overlap", () => {
    const delay = backoffDelay({ duration: 100, factor: 2 }, { clock });
    const pipe = (name: string) => failing(name).pipe(retry({ count: 3, delay }));
    pipe("a").subscribe({ error() {} });
    clock.stepSync(50);
    pipe("b").subscribe({ error() {} });
    clock.stepSync(10_000);
    expect(timeline.events).toEqual([
      [0, "a"],
      [50, "b"],
      [100, "a"],
      [150, "b"],
      [300, "a"],
      [350, "b"],
      [700, "a"],
      [750, "b"],
    ]);
  });

  it("draws one delay for each retry of a single subscription", () => {
    const next = vi.fn(() => 10);
    const strategy: BackoffStrategy = { delayFunc: vi.fn(() => next) };
    const delay = backoffDelay(strategy, { clock });
    failing()
      .pipe(retry({ count: 50, delay }))
      .subscribe({ error() {} });
    clock.stepSync(1_000);
    expect(next).toHaveBeenCalledTimes(50);
    expect(strategy.delayFunc).toHaveBeenCalledTimes(1);
  });

  it("emits once, not a millisecond early, and completes", () => {
    backoffDelay(new Backoff({ duration: 1_000 }), { clock })(refused, 1).subscribe(
      noting(timeline),
    );
    const deadline = clock.monotonic() + 1_000;
    expect(clock.pending()).toEqual([{ label: "backoff", deadline, ref: true }]);
    clock.stepSync(999);
    expect(timeline.events).toEqual([]);
    clock.stepSync(1);
    expect(timeline.events).toEqual([
      [1_000, undefined],
      [1_000, "completed"],
    ]);
  });

  it("stops the timer when unsubscribed during a delay", () => {
    const delay = backoffDelay({ duration: 1_000 }, { clock });
    const subscription = failing().pipe(retry({ delay })).subscribe(noting(timeline));
    clock.stepSync(1_500);
    expect(clock.waiters()).toBe(1);
    subscription.unsubscribe();
    expect(clock.waiters()).toBe(0);
    clock.stepSync(10_000);
    expect(timeline.events).toEqual([
      [0, "try"],
      [1_000, "try"],
    ]);
  });

  it("fails the stream if the strategy returns an invalid delay", () => {
    const delay = backoffDelay({ delayFunc: () => () => Number.NaN }, { clock });
    failing().pipe(retry({ delay })).subscribe(noting(timeline));
    expect(timeline.events).toEqual([
      [0, "try"],
      [0, ["failed", new RangeError("delay must be a number of milliseconds, got NaN")]],
    ]);
    expect(clock.waiters()).toBe(0);
  });
});
