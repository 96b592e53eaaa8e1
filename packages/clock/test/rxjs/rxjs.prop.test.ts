import { asScheduler } from "@holdfast/clock/rxjs";
import { FakeClock } from "@holdfast/clock/testing";
import fc from "fast-check";
import {
  auditTime,
  bufferTime,
  concat,
  concatMap,
  debounceTime,
  defer,
  delay,
  EMPTY,
  endWith,
  interval,
  map,
  type Observable,
  of,
  repeat,
  retry,
  type SchedulerLike,
  sampleTime,
  take,
  takeUntil,
  throttleTime,
  throwError,
  timeInterval,
  timeout,
  timer,
  toArray,
  VirtualTimeScheduler,
  windowTime,
} from "rxjs";
import { describe, expect, it } from "vitest";

type Operator = (
  source: Observable<number>,
  span: number,
  on: SchedulerLike,
) => Observable<unknown>;

const throttleBothEnds = { leading: true, trailing: true };

const operators: Record<string, Operator> = {
  auditTime: (source, span, on) => source.pipe(auditTime(span, on)),
  bufferTime: (source, span, on) => source.pipe(bufferTime(span, on)),
  "bufferTime, overlapping": (source, span, on) => source.pipe(bufferTime(span, 7, on)),
  debounceTime: (source, span, on) => source.pipe(debounceTime(span, on)),
  delay: (source, span, on) => source.pipe(delay(span, on)),
  interval: (source, span, on) => interval(span, on).pipe(takeUntil(source.pipe(endWith(0)))),
  "repeat with a delay": (source, span, on) =>
    defer(() => source.pipe(take(2))).pipe(repeat({ count: 3, delay: () => timer(span, on) })),
  "retry with a delay": (source, span, on) =>
    concat(
      source.pipe(take(2)),
      throwError(() => "failed"),
    ).pipe(retry({ count: 2, delay: () => timer(span, on) })),
  sampleTime: (source, span, on) => source.pipe(sampleTime(span, on)),
  throttleTime: (source, span, on) => source.pipe(throttleTime(span, on)),
  "throttleTime, both ends": (source, span, on) =>
    source.pipe(throttleTime(span, on, throttleBothEnds)),
  timeInterval: (source, span, on) => source.pipe(delay(span, on), timeInterval(on)),
  timeout: (source, span, on) => source.pipe(timeout({ each: span, scheduler: on })),
  "timeout with another": (source, span, on) =>
    source.pipe(timeout({ each: span, with: () => of("other"), scheduler: on })),
  timer: (source, span, on) => timer(span, span + 1, on).pipe(takeUntil(source.pipe(endWith(0)))),
  windowTime: (source, span, on) =>
    source.pipe(
      windowTime(span, on),
      concatMap((window) => window.pipe(toArray())),
    ),
};

type Trace = [at: number, event: unknown][];

/** Values, and the pauses before them. */
function sourceOf(gaps: readonly number[], on: SchedulerLike): Observable<number> {
  return concat(...gaps.map((gap, index) => timer(gap, on).pipe(map(() => index))), EMPTY);
}

function describeError(error: unknown): unknown {
  return error instanceof Error ? error.name : error;
}

/** Everything that several operators emit side by side, in one order. */
function record(
  names: readonly string[],
  gaps: readonly number[],
  span: number,
  on: SchedulerLike,
) {
  const trace: Trace = [];
  const start = on.now();
  for (const name of names) {
    const note = (event: unknown) => trace.push([on.now() - start, [name, event]]);
    (operators[name] as Operator)(sourceOf(gaps, on), span, on).subscribe({
      next: (value) => note(value),
      error: (error: unknown) => note({ error: describeError(error) }),
      complete: () => note("complete"),
    });
  }
  return trace;
}

function onVirtualTime(names: readonly string[], gaps: readonly number[], span: number): Trace {
  const scheduler = new VirtualTimeScheduler();
  scheduler.maxFrames = 2_000;
  const trace = record(names, gaps, span, scheduler);
  scheduler.flush();
  return trace;
}

function onOurs(names: readonly string[], gaps: readonly number[], span: number): Trace {
  const clock = new FakeClock({ now: 0 });
  const trace = record(names, gaps, span, asScheduler(clock));
  clock.stepSync(2_000);
  return trace;
}

const gaps = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 12 });
const span = fc.integer({ min: 1, max: 40 });

describe("asScheduler", () => {
  it.each(Object.keys(operators))("runs %s like the virtual time of rxjs", (name) => {
    fc.assert(
      fc.property(gaps, span, (gaps, span) => {
        expect(onOurs([name], gaps, span)).toEqual(onVirtualTime([name], gaps, span));
      }),
    );
  });

  it("keeps the order of concurrent work", () => {
    const names = Object.keys(operators);
    fc.assert(
      fc.property(fc.shuffledSubarray(names), gaps, span, (names, gaps, span) => {
        expect(onOurs(names, gaps, span)).toEqual(onVirtualTime(names, gaps, span));
      }),
    );
  });
});
