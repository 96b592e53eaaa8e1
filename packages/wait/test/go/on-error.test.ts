import { FakeClock } from "@holdfast/clock/testing";
import { type BackoffOptions, TimeoutError } from "@holdfast/wait";
import {
  DefaultBackoff,
  DefaultRetry,
  ExhaustedError,
  onError,
  retryOnConflict,
} from "@holdfast/wait/go";
import { beforeEach, describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { type Timeline, timelineOf } from "../../../../test/timeline.ts";

let clock: FakeClock;
let stop: AbortController;
let timeline: Timeline;

beforeEach(() => {
  clock = new FakeClock();
  stop = new AbortController();
  timeline = timelineOf(clock);
});

const retriable = new Error("connection reset");
const fatal = new Error("forbidden");
const conflict = { code: 409 };
const isRetriable = (error: unknown) => error === retriable;

/** A function that throws these errors in turn, then returns "value". */
const failing = (...errors: readonly unknown[]) => {
  let calls = 0;
  return () => {
    timeline.note("called");
    if (calls < errors.length) throw errors[calls++];
    return "value";
  };
};

const steps3 = { duration: 100, factor: 2, steps: 3 };

describe("onError", () => {
  const run = (fn: (signal: AbortSignal) => unknown, backoff: BackoffOptions = steps3) =>
    clock
      .run(() => onError(backoff, isRetriable, fn, { clock, signal: stop.signal }))
      .then(
        (value) => timeline.note(value),
        (error: unknown) => timeline.note(["rejected", error]),
      );

  const interruption = new TimeoutError(5);

  interface Case {
    readonly name: string;
    readonly errors: readonly unknown[];
    readonly called: readonly number[];
    readonly end: unknown;
  }

  it.each<Case>([
    { name: "a first success", errors: [], called: [0], end: "value" },
    {
      name: "a success after retriable errors",
      errors: [retriable, retriable],
      called: [0, 100, 300],
      end: "value",
    },
    {
      name: "retriable errors in all calls",
      errors: [retriable, retriable, retriable],
      called: [0, 100, 300],
      end: ["rejected", retriable],
    },
    { name: "another error", errors: [fatal], called: [0], end: ["rejected", fatal] },
    {
      name: "another error after a retriable one",
      errors: [retriable, fatal],
      called: [0, 100],
      end: ["rejected", fatal],
    },
    {
      name: "an interruption",
      errors: [interruption],
      called: [0],
      end: ["rejected", interruption],
    },
    {
      name: "an interruption after a retriable one",
      errors: [retriable, interruption],
      called: [0, 100],
      end: ["rejected", retriable],
    },
  ])("ends like Go: $name", async ({ errors, called, end }) => {
    await run(failing(...errors));
    const at = called.at(-1) as number;
    expect(timeline.events).toEqual([...called.map((start) => [start, "called"]), [at, end]]);
  });

  it("resolves with the value of a promise", async () => {
    await run(async () => {
      await clock.sleep(50);
      return { found: true };
    });
    expect(timeline.events).toEqual([[50, { found: true }]]);
  });

  it("rejects with an ExhaustedError with steps of 0", async () => {
    await run(failing(), { duration: 100, steps: 0 });
    expect(timeline.events).toEqual([[0, ["rejected", expect.any(ExhaustedError)]]]);
  });

  it("rejects at the cap with the last error unchanged", async () => {
    const always = failing(...Array<unknown>(9).fill(retriable));
    await run(always, { duration: 1000, factor: 2, cap: 3000, steps: 9 });
    expect(timeline.events).toEqual([
      [0, "called"],
      [1000, "called"],
      [3000, ["rejected", retriable]],
    ]);
  });

  it("rejects with an error of retriable", async () => {
    const wrong = new TypeError("no such property");
    const broken = () => {
      throw wrong;
    };
    await expect(onError(steps3, broken, failing(fatal), { clock })).rejects.toBe(wrong);
  });

  it("rejects with signal.reason at once when aborted during a delay", async () => {
    const reason = new DOMException("SIGTERM", "AbortError");
    const fn = failing(retriable, retriable);
    const { signal } = stop;
    const end = timeline.noteEnd(onError(steps3, isRetriable, fn, { clock, signal }));
    await clock.step(50);
    stop.abort(reason);
    await end;
    expect(timeline.events).toEqual([
      [0, "called"],
      [50, ["rejected", reason]],
    ]);
    expect([clock.waiters(), abortListeners(signal)]).toEqual([0, 0]);
  });

  it("passes its signal on, and rejects with signal.reason if fn obeys the abort", async () => {
    const { signal } = stop;
    const sleep = (own: AbortSignal) => clock.sleep(60_000, { signal: own });
    const end = timeline.noteEnd(onError(steps3, () => true, sleep, { clock, signal }));
    await clock.step(50);
    stop.abort("gone");
    await end;
    expect(timeline.events).toEqual([[50, ["rejected", "gone"]]]);
    expect([clock.waiters(), abortListeners(signal)]).toEqual([0, 0]);
  });

  it("rejects with signal.reason, not with a retriable error at the same instant", async () => {
    const { signal } = stop;
    const fn = () => {
      stop.abort("gone");
      throw retriable;
    };
    await timeline.noteEnd(onError(steps3, isRetriable, fn, { clock, signal }));
    expect(timeline.events).toEqual([[0, ["rejected", "gone"]]]);
    expect([clock.waiters(), abortListeners(signal)]).toEqual([0, 0]);
  });

  it.each([
    { name: "DefaultRetry", backoff: DefaultRetry, called: [0, 10, 20, 30, 40] },
    { name: "DefaultBackoff", backoff: DefaultBackoff, called: [0, 10, 60, 310] },
  ])("calls at the instants of $name", async ({ backoff, called }) => {
    await run(failing(...Array<unknown>(9).fill(retriable)), { ...backoff, jitter: 0 });
    expect(timeline.events.map(([at]) => at)).toEqual([...called, called.at(-1)]);
  });

  it.each([DefaultRetry, DefaultBackoff])("has frozen constants: %o", (backoff) => {
    expect(Object.isFrozen(backoff)).toBe(true);
    expect(backoff.jitter).toBe(0.1);
  });
});

describe("retryOnConflict", () => {
  it("calls again after conflicts only", async () => {
    const value = await clock.run(() =>
      retryOnConflict(steps3, failing(conflict, conflict), { clock }),
    );
    expect(value).toBe("value");
    expect(timeline.events.map(([at]) => at)).toEqual([0, 100, 300]);
    await expect(retryOnConflict(steps3, failing(retriable), { clock })).rejects.toBe(retriable);
  });

  it("rejects with the last conflict unchanged", async () => {
    const last = { ...conflict };
    const end = clock.run(() =>
      retryOnConflict(steps3, failing(conflict, conflict, last), { clock }),
    );
    await expect(end).rejects.toBe(last);
  });

  it("rejects with an interruption without an earlier conflict (PreservesContextErrorWithoutLastError)", async () => {
    const { reason } = AbortSignal.abort() as { reason: unknown };
    await expect(retryOnConflict(steps3, failing(reason))).rejects.toBe(reason);
  });
});
