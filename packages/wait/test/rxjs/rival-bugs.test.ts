// Bugs that users of rxjs, backoff-rxjs or a retry library have reported, and the other tests of the operators do not rule out.
import { fromScheduler } from "@holdfast/clock/rxjs";
import { FakeClock } from "@holdfast/clock/testing";
import { Backoff } from "@holdfast/wait";
import { backoffDelay, repeatBackoff, retryBackoff } from "@holdfast/wait/rxjs";
import {
  defer,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  retry,
  throwError,
  VirtualTimeScheduler,
} from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Timeline, timelineOf } from "../../../../test/timeline.ts";
import { type Harness, harnesses } from "../harness.ts";
import { noting } from "./noting.ts";

const DAY = 24 * 60 * 60 * 1_000;
const refused = new Error("refused");

describe.each(Object.entries(harnesses))("on %s", (_name, open) => {
  let harness: Harness;
  let timeline: Timeline;

  beforeEach(() => {
    harness = open();
    timeline = timelineOf(harness.clock);
  });

  afterEach(() => {
    try {
      expect(harness.waiters()).toBe(0);
    } finally {
      harness.close();
    }
  });

  const failing = (): Observable<never> =>
    defer(() => {
      timeline.note("try");
      return throwError(() => refused);
    });

  /** The same retries with either operator. */
  type Form = (backoff: { duration: number }, retries: number) => MonoTypeOperatorFunction<unknown>;
  const forms: Record<string, Form> = {
    retryBackoff: (backoff, retries) => retryBackoff({ backoff, retries, clock: harness.clock }),
    "retry with backoffDelay": (backoff, count) =>
      retry({ count, delay: backoffDelay(backoff, { clock: harness.clock }) }),
  };

  describe.each(Object.entries(forms))("%s", (_form, retrying) => {
    it.each([2 ** 31 - 1, 2 ** 31, 30 * DAY])(
      "waits for a delay of %d ms, without a hot loop (ReactiveX/rxjs#3015)",
      async (duration) => {
        failing().pipe(retrying({ duration }, 1)).subscribe(noting(timeline));
        await harness.step(duration - 1);
        expect(timeline.events).toEqual([[0, "try"]]);
        await harness.step(1);
        expect(timeline.events).toEqual([
          [0, "try"],
          [duration, "try"],
          [duration, ["failed", refused]],
        ]);
      },
    );

    it("neither starves timers nor overflows the stack with a delay of 0", async () => {
      let tries = 0;
      const source = defer(() => {
        tries++;
        return throwError(() => refused);
      });
      const subscription = source
        .pipe(retrying({ duration: 0 }, Number.POSITIVE_INFINITY))
        .subscribe();
      expect(tries).toBe(1);
      // A fake clock fires all timers due at an instant: the next timer fires first and ends the stream.
      harness.clock.afterFunc(0, () => subscription.unsubscribe());
      await harness.step(10);
      expect(tries).toBeLessThan(4);
    });

    it("keeps the depth of the stack for a source that fails synchronously", async () => {
      const depths: number[] = [];
      const source = defer(() => {
        depths.push(new Error("here").stack?.split("\n").length ?? 0);
        return throwError(() => refused);
      });
      const limit = Error.stackTraceLimit;
      Error.stackTraceLimit = Number.POSITIVE_INFINITY;
      try {
        source.pipe(retrying({ duration: 1 }, 100)).subscribe(noting(timeline));
        await harness.step(100);
      } finally {
        Error.stackTraceLimit = limit;
      }
      expect(depths).toHaveLength(101);
      expect(Math.max(...depths.slice(1))).toBe(depths[1]);
      expect(timeline.events).toEqual([[100, ["failed", refused]]]);
    });
  });
});

it("keeps its delays after a jump of the system clock (ReactiveX/rxjs#5238)", () => {
  for (const jump of [-DAY, DAY]) {
    const clock = new FakeClock();
    const timeline = timelineOf(clock);
    const subscription = defer(() => {
      timeline.note("try");
      return throwError(() => refused);
    })
      .pipe(retryBackoff({ backoff: { duration: 1_000 }, maxElapsed: 2_500, clock }))
      .subscribe({ error() {} });
    clock.stepSync(500);
    clock.setSystemTime(clock.now() + jump);
    clock.stepSync(499);
    expect(timeline.events).toEqual([[0, "try"]]);
    clock.stepSync(5_000);
    expect(timeline.events.map(([at]) => at)).toEqual([0, 1_000, 2_000]);
    expect(clock.waiters()).toBe(0);
    subscription.unsubscribe();
  }
});

it("uses the given clock for every delay (backoff-rxjs intervalBackoff)", () => {
  const scheduler = new VirtualTimeScheduler();
  const seen: [number, string][] = [];
  of("value")
    .pipe(
      repeatBackoff({
        backoff: new Backoff({ duration: 1_000, factor: 2 }),
        repeats: 4,
        clock: fromScheduler(scheduler),
      }),
    )
    .subscribe((value) => seen.push([scheduler.now(), value]));
  scheduler.flush();
  expect(seen).toEqual([
    [0, "value"],
    [1_000, "value"],
    [3_000, "value"],
    [7_000, "value"],
    [15_000, "value"],
  ]);
});
