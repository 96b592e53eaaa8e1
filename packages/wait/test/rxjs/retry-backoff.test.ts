import { asScheduler } from "@holdfast/clock/rxjs";
import { FakeClock } from "@holdfast/clock/testing";
import { Backoff, type BackoffStrategy, RetryAfterError, TerminalError } from "@holdfast/wait";
import {
  pollBackoff,
  type RetryBackoffContext,
  type RetryBackoffOptions,
  repeatBackoff,
  retryBackoff,
} from "@holdfast/wait/rxjs";
import {
  concat,
  defer,
  EMPTY,
  ignoreElements,
  NEVER,
  type Observable,
  of,
  Subject,
  type Subscription,
  throwError,
  timer,
} from "rxjs";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { type Timeline, type TimelineEvent, timelineOf } from "../../../../test/timeline.ts";
import { marbles } from "./marbles.ts";
import { noting } from "./noting.ts";

const refused = new Error("refused");
const terminal = new TerminalError("no such page");
const doubling = { duration: 100, factor: 2 };

/** Each operator of this folder, on a source that fails, completes or stays empty. */
const OPERATORS = [
  { name: "retryBackoff", source: throwError(() => refused), operator: retryBackoff<number> },
  { name: "repeatBackoff", source: EMPTY, operator: repeatBackoff<number> },
  {
    name: "pollBackoff",
    source: EMPTY,
    operator: (options: RetryBackoffOptions) => pollBackoff<number>(() => true, options),
  },
];

describe.each(OPERATORS)("the signal of $name", ({ source, operator }) => {
  const start = (signal: AbortSignal, of: Observable<number>) => {
    const clock = new FakeClock();
    const errors: unknown[] = [];
    const subscription = of
      .pipe(operator({ backoff: { duration: 100 }, clock, signal }))
      .subscribe({ error: (error) => errors.push(error) });
    return { clock, errors, subscription };
  };

  it.each([
    { name: "a delay", of: source },
    { name: "a run of the source", of: NEVER },
  ])("ends $name with its reason", ({ of }) => {
    const stop = new AbortController();
    const { clock, errors } = start(stop.signal, of);
    clock.stepSync(150);
    stop.abort("enough");
    expect([errors, clock.waiters(), abortListeners(stop.signal)]).toEqual([["enough"], 0, 0]);
  });

  it("that has aborted subscribes to nothing", () => {
    const subscribe = vi.fn(() => NEVER);
    const { clock, errors } = start(AbortSignal.abort("enough"), defer(subscribe));
    expect([errors, clock.waiters(), subscribe.mock.calls]).toEqual([["enough"], 0, []]);
  });

  it("has no listener after an unsubscription", () => {
    const stop = new AbortController();
    const { clock, subscription } = start(stop.signal, source);
    subscription.unsubscribe();
    expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  });
});

describe("retryBackoff", () => {
  let clock: FakeClock;
  let timeline: Timeline;

  beforeEach(() => {
    clock = new FakeClock();
    timeline = timelineOf(clock);
  });

  /** Notes each subscription and fails with the next of these errors; repeats the last one. */
  function failing(...errors: readonly unknown[]): Observable<never> {
    let call = 0;
    return defer(() => {
      timeline.note("try");
      return throwError(() => errors[Math.min(call++, errors.length - 1)]);
    });
  }

  function start(source: Observable<unknown>, options: Partial<RetryBackoffOptions>): Subscription {
    return source
      .pipe(retryBackoff({ backoff: doubling, clock, ...options }))
      .subscribe(noting(timeline));
  }

  /** The events of a source that always fails. */
  function eventsOf(options: Partial<RetryBackoffOptions>): TimelineEvent[] {
    start(failing(refused), options);
    clock.stepSync(10_000);
    expect(clock.waiters()).toBe(0);
    return timeline.events;
  }

  describe("after a TerminalError or a RetryAfterError", () => {
    it("fails at once with a TerminalError, or an error caused by one", () => {
      for (const error of [terminal, new Error("page", { cause: terminal })]) {
        timeline.events.length = 0;
        const shouldRetry = vi.fn(() => true);
        start(failing(error), { shouldRetry });
        expect(timeline.events).toEqual([
          [0, "try"],
          [0, ["failed", error]],
        ]);
        expect(shouldRetry).not.toHaveBeenCalled();
      }
    });

    it("waits as long as a RetryAfterError names, past the cap, and advances the backoff", () => {
      const backoff = { duration: 100, factor: 2, cap: 300 };
      start(failing(refused, new RetryAfterError(5_000), refused), { backoff, retries: 3 });
      clock.stepSync(10_000);
      const tries = timeline.events.filter(([, event]) => event === "try");
      expect(tries.map(([at]) => at)).toEqual([0, 100, 5_100, 5_400]);
    });

    it.each([
      ["Infinity", { after: Number.POSITIVE_INFINITY, maxElapsed: Number.POSITIVE_INFINITY }],
      ["a time past maxElapsed", { after: 1_001, maxElapsed: 1_000 }],
    ])("fails at once with the error if it names %s", (_name, { after, maxElapsed }) => {
      const error = new RetryAfterError(after);
      start(failing(error), { maxElapsed });
      expect(timeline.events[1]).toEqual([0, ["failed", error]]);
    });

    it("fails with a RetryAfterError of Infinity, without calling shouldRetry", () => {
      const error = new RetryAfterError(Number.POSITIVE_INFINITY);
      const shouldRetry = () => {
        throw new Error("must not be called");
      };
      start(failing(error), { shouldRetry });
      expect(timeline.events[1]).toEqual([0, ["failed", error]]);
    });

    it("passes the delay to the delay hook, which may replace even Infinity", () => {
      const delay = vi.fn((_context: RetryBackoffContext, next: number) => Math.min(next, 50));
      start(failing(new RetryAfterError(Number.POSITIVE_INFINITY)), { delay, retries: 1 });
      clock.stepSync(50);
      expect(delay.mock.calls[0]?.[1]).toBe(Number.POSITIVE_INFINITY);
      expect(timeline.events[1]).toEqual([50, "try"]);
    });
  });

  describe("subscribes again", () => {
    it("after growing delays, and passes values on", () => {
      marbles(({ clock: time, cold, expectObservable, expectSubscriptions }) => {
        const source = cold("-a#", undefined, refused);
        const options = { backoff: { duration: 2, factor: 2 }, retries: 3, clock: time };
        // Two frames until the failure, then delays of 2, 4 and 8.
        expectObservable(source.pipe(retryBackoff(options))).toBe(
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

    it("only if the source fails, not if it completes", () => {
      marbles(({ clock: time, cold, expectObservable, expectSubscriptions }) => {
        const source = cold("-a-|");
        const retried = source.pipe(retryBackoff({ backoff: { duration: 1 }, clock: time }));
        expectObservable(retried).toBe("-a-|");
        expectSubscriptions(source.subscriptions).toBe("^--!");
      });
    });

    it("forever without a limit", () => {
      const subscription = start(failing(refused), { backoff: { duration: 1 } });
      clock.stepSync(500);
      expect(timeline.events).toHaveLength(501);
      subscription.unsubscribe();
      expect(clock.waiters()).toBe(0);
    });

    it("with the delays of any strategy, from the first delay for each subscription", () => {
      const strategy: BackoffStrategy = { delayFunc: vi.fn(() => () => 30) };
      const retried = failing(refused).pipe(retryBackoff({ backoff: strategy, retries: 1, clock }));
      retried.subscribe({ error() {} });
      retried.subscribe({ error() {} });
      clock.stepSync(1_000);
      expect(timeline.events.map(([at]) => at)).toEqual([0, 0, 30, 30]);
      expect(strategy.delayFunc).toHaveBeenCalledTimes(2);
    });

    it("independently of other subscriptions of the same operator", () => {
      const retried = failing(refused).pipe(
        retryBackoff({ backoff: new Backoff(doubling), retries: 2, maxElapsed: 300, clock }),
      );
      retried.subscribe(noting(timeline));
      clock.stepSync(200);
      retried.subscribe(noting(timeline));
      clock.stepSync(10_000);
      expect(timeline.events).toEqual([
        [0, "try"],
        [100, "try"],
        [200, "try"],
        [300, "try"],
        [300, ["failed", refused]],
        [300, "try"],
        [500, "try"],
        [500, ["failed", refused]],
      ]);
    });
  });

  describe("fails with the last error itself", () => {
    it.each([
      [0, [0]],
      [1, [0, 100]],
      [3, [0, 100, 300, 700]],
    ])("after %d retries, without a delay at the end", (retries, tries) => {
      expect(eventsOf({ retries })).toEqual([
        ...tries.map((at) => [at, "try"]),
        [tries.at(-1), ["failed", refused]],
      ]);
    });

    it.each([
      [0, [0]],
      [99, [0]],
      [100, [0, 100]],
      [299, [0, 100]],
      [300, [0, 100, 300]],
    ])("if the next retry would start after %d ms", (maxElapsed, tries) => {
      expect(eventsOf({ maxElapsed })).toEqual([
        ...tries.map((at) => [at, "try"]),
        [tries.at(-1), ["failed", refused]],
      ]);
    });

    it.each([
      [1_299, [0, 600], 1_100],
      [1_300, [0, 600, 1_300], 1_800],
    ])("including the time of the source (%d ms)", async (maxElapsed, tries, end) => {
      const slow = defer(async () => {
        timeline.note("try");
        await clock.sleep(500);
        throw refused;
      });
      start(slow, { maxElapsed });
      await clock.step(10_000);
      expect(timeline.events).toEqual([
        ...tries.map((at) => [at, "try"]),
        [end, ["failed", refused]],
      ]);
    });

    it.each([refused, "refused", 0, null, undefined])("of any type: %s", (error) => {
      start(failing("first", error), { retries: 1 });
      clock.stepSync(1_000);
      expect(timeline.events.at(-1)).toEqual([100, ["failed", error]]);
    });

    it("if shouldRetry returns false", () => {
      const fatal = new Error("fatal");
      start(failing(refused, refused, fatal), { shouldRetry: ({ error }) => error !== fatal });
      clock.stepSync(1_000);
      expect(timeline.events).toEqual([
        [0, "try"],
        [100, "try"],
        [300, "try"],
        [300, ["failed", fatal]],
      ]);
      expect(clock.waiters()).toBe(0);
    });
  });

  describe("hooks", () => {
    const factsOf = (contexts: readonly RetryBackoffContext[]) =>
      contexts.map(({ attempt, error, delay, elapsed, retriesLeft }) => [
        attempt,
        error,
        delay,
        elapsed,
        retriesLeft,
      ]);

    it("receive attempt, error, delay, elapsed and retriesLeft", () => {
      const shouldRetryContexts: RetryBackoffContext[] = [];
      const onRetryContexts: RetryBackoffContext[] = [];
      eventsOf({
        retries: 3,
        shouldRetry: (context) => shouldRetryContexts.push(context) > 0,
        onRetry: (context) => onRetryContexts.push(context),
      });
      const expected = [
        [1, refused, 100, 0, 3],
        [2, refused, 200, 100, 2],
        [3, refused, 400, 300, 1],
      ];
      expect(factsOf(shouldRetryContexts)).toEqual(expected);
      expect(factsOf(onRetryContexts)).toEqual(expected);
      expect([...shouldRetryContexts, ...onRetryContexts].every(Object.isFrozen)).toBe(true);
    });

    it("receive retriesLeft of Infinity without a limit", () => {
      const onRetryContexts: RetryBackoffContext[] = [];
      start(failing(refused), {
        onRetry: (context) => onRetryContexts.push(context),
      }).unsubscribe();
      expect(factsOf(onRetryContexts)).toEqual([[1, refused, 100, 0, Number.POSITIVE_INFINITY]]);
    });

    it("are not called if the next retry would start after maxElapsed", () => {
      const shouldRetry = () => timeline.note("should") === undefined;
      expect(eventsOf({ shouldRetry, maxElapsed: 299 })).toEqual([
        [0, "try"],
        [0, "should"],
        [100, "try"],
        [100, ["failed", refused]],
      ]);
    });

    it("are called until maxElapsed with a delay hook, which may choose 0", () => {
      const hooks = {
        shouldRetry: () => timeline.note("should") === undefined,
        delay: ({ attempt }: RetryBackoffContext) =>
          timeline.note("delay") ?? (attempt === 1 ? 100 : 0),
      };
      const slow = concat(timer(50, asScheduler(clock)), failing(refused)).pipe(ignoreElements());
      start(slow, { ...hooks, maxElapsed: 200 });
      clock.stepSync(1_000);
      expect(timeline.events).toEqual([
        [50, "try"],
        ...[
          [50, "should"],
          [50, "delay"],
        ],
        [200, "try"],
        ...[
          [200, "should"],
          [200, "delay"],
        ],
        [250, "try"],
        [250, ["failed", refused]],
      ]);
    });

    it("are called in order, each only if the previous one allows it", () => {
      const hooks = {
        shouldRetry({ attempt }: RetryBackoffContext) {
          timeline.note("should");
          return attempt < 3;
        },
        delay(_context: RetryBackoffContext, next: number) {
          timeline.note("delay");
          return next;
        },
        onRetry: () => timeline.note("on"),
      };
      expect(eventsOf({ ...hooks, maxElapsed: 299 }).map(([, event]) => event)).toEqual([
        "try",
        ...["should", "delay", "on", "try"],
        ...["should", "delay"],
        ["failed", refused],
      ]);
      timeline = timelineOf(clock);
      expect(eventsOf(hooks).map(([, event]) => event)).toEqual([
        "try",
        ...["should", "delay", "on", "try"],
        ...["should", "delay", "on", "try"],
        "should",
        ["failed", refused],
      ]);
    });

    it("can replace the delay of the backoff", () => {
      const seen: [number, number][] = [];
      const delays: number[] = [];
      const events = eventsOf({
        retries: 3,
        delay(context, next) {
          seen.push([context.delay, next]);
          return context.attempt === 2 ? 5_000 : next;
        },
        onRetry: ({ delay }) => delays.push(delay),
      });
      expect(seen).toEqual([
        [100, 100],
        [200, 200],
        [400, 400],
      ]);
      expect(delays).toEqual([100, 5_000, 400]);
      expect(events.map(([at]) => at)).toEqual([0, 100, 5_100, 5_500, 5_500]);
    });

    it("fail the stream at once with a delay past maxElapsed", () => {
      expect(eventsOf({ maxElapsed: 1_000, delay: () => 1_001 })).toEqual([
        [0, "try"],
        [0, ["failed", refused]],
      ]);
    });

    it.each([
      [-1, new RangeError("options.delay() must be a number of at least 0, got -1")],
      [Number.NaN, new RangeError("options.delay() must be a number of at least 0, got NaN")],
      ["1", new TypeError('options.delay() must be a number of at least 0, got "1"')],
    ])("fail the stream at once with an invalid delay of %s", (bad, error) => {
      const onRetry = vi.fn();
      expect(eventsOf({ delay: () => bad as number, onRetry })).toEqual([
        [0, "try"],
        [0, ["failed", error]],
      ]);
      expect(onRetry).not.toHaveBeenCalled();
    });

    it.each([
      { gives: -5, tries: 2, error: refused },
      {
        gives: Number.NaN,
        tries: 1,
        error: new RangeError("delay must be a number of milliseconds, got NaN"),
      },
    ])("are not named for a delay of $gives from the strategy", ({ gives, tries, error }) => {
      const backoff = { delayFunc: () => () => gives };
      expect(eventsOf({ backoff, retries: 1 })).toEqual([
        ...new Array(tries).fill([0, "try"]),
        [0, ["failed", error]],
      ]);
    });

    it.each(["shouldRetry", "delay", "onRetry"] as const)(
      "fail the stream at once with an error of %s",
      (hook) => {
        const bug = new Error("bug");
        const broken = () => {
          throw bug;
        };
        expect(eventsOf({ [hook]: broken })).toEqual([
          [0, "try"],
          [0, ["failed", bug]],
        ]);
      },
    );
  });

  describe("with resetOnSuccess", () => {
    /** A value and a failure on every third subscription, a failure on all others. */
    function recovering(): Observable<string> {
      let call = 0;
      return defer(() => {
        timeline.note("try");
        const failure = throwError(() => refused);
        return ++call % 3 === 0 ? concat(of("value"), failure) : failure;
      });
    }

    it("resets delays, retries and elapsed time after a value", () => {
      const retries: unknown[] = [];
      start(recovering(), {
        retries: 2,
        maxElapsed: 300,
        resetOnSuccess: true,
        onRetry: ({ attempt, delay, elapsed, retriesLeft }) =>
          retries.push([attempt, delay, elapsed, retriesLeft]),
      });
      clock.stepSync(900);
      expect(timeline.events).toEqual([
        [0, "try"],
        [100, "try"],
        [300, "try"],
        [300, "value"],
        [400, "try"],
        [600, "try"],
        [600, ["failed", refused]],
      ]);
      expect(retries).toEqual([
        [1, 100, 0, 2],
        [2, 200, 100, 1],
        [1, 100, 0, 2],
        [2, 200, 100, 1],
      ]);
      expect(clock.waiters()).toBe(0);
    });

    it("measures elapsed time from the first failure after a value", () => {
      const source = new Subject<string>();
      const events: unknown[] = [];
      source
        .pipe(
          retryBackoff({
            backoff: doubling,
            maxElapsed: 250,
            resetOnSuccess: true,
            onRetry: ({ elapsed }) => events.push(elapsed),
            clock,
          }),
        )
        .subscribe({ error: (error) => events.push(error) });
      source.next("well");
      clock.stepSync(3_600_000);
      source.error(refused);
      clock.stepSync(10_000);
      expect(events).toEqual([0, refused]);
    });

    it("resets nothing without a value", () => {
      expect(eventsOf({ retries: 2, resetOnSuccess: true })).toEqual([
        [0, "try"],
        [100, "try"],
        [300, "try"],
        [300, ["failed", refused]],
      ]);
    });
  });

  it.each([
    { lasts: 59_999, isReset: false },
    { lasts: 60_000, isReset: true },
  ])("with resetAfter of a minute, a run of $lasts ms resets: $isReset", ({ lasts, isReset }) => {
    let call = 0;
    const failure = throwError(() => refused);
    const source = defer(() =>
      ++call === 3
        ? concat(timer(lasts, asScheduler(clock)).pipe(ignoreElements()), failure)
        : failure,
    );
    const retries: unknown[] = [];
    start(source, {
      resetAfter: 60_000,
      onRetry: ({ attempt, delay, elapsed }) => retries.push([attempt, delay, elapsed]),
    });
    clock.stepSync(300 + lasts);
    expect(retries).toEqual([
      [1, 100, 0],
      [2, 200, 100],
      isReset ? [1, 100, 0] : [3, 400, 300 + lasts],
    ]);
  });

  it("resets nothing without resetOnSuccess", () => {
    let call = 0;
    const source = defer(() => {
      timeline.note(++call);
      return concat(
        of("value"),
        throwError(() => refused),
      );
    });
    start(source, { retries: 2 });
    clock.stepSync(10_000);
    expect(timeline.events).toEqual([
      [0, 1],
      [0, "value"],
      [100, 2],
      [100, "value"],
      [300, 3],
      [300, "value"],
      [300, ["failed", refused]],
    ]);
  });

  describe("when unsubscribed", () => {
    it("during a delay, stops the timer", () => {
      const subscription = start(failing(refused), {});
      clock.stepSync(150);
      expect(clock.waiters()).toBe(1);
      subscription.unsubscribe();
      expect(clock.waiters()).toBe(0);
      clock.stepSync(10_000);
      expect(timeline.events).toEqual([
        [0, "try"],
        [100, "try"],
      ]);
    });

    it("during a run of the source, unsubscribes from the source", () => {
      const source = new Subject<never>();
      const subscription = start(source, {});
      expect(source.observed).toBe(true);
      subscription.unsubscribe();
      expect(source.observed).toBe(false);
    });

    it.each(["shouldRetry", "delay", "onRetry"] as const)("during %s, arms no timer", (hook) => {
      const source = new Subject<never>();
      const subscription = start(source, {
        [hook]() {
          subscription.unsubscribe();
          return 10;
        },
      });
      source.error(refused);
      expect(clock.waiters()).toBe(0);
      clock.stepSync(10_000);
      expect(timeline.events).toEqual([]);
    });

    it("before a failure, has drawn no delay", () => {
      const strategy = { delayFunc: vi.fn(() => () => 1) };
      start(NEVER, { backoff: strategy }).unsubscribe();
      expect(strategy.delayFunc).not.toHaveBeenCalled();
      expect(clock.waiters()).toBe(0);
    });
  });
});
