import { setImmediate } from "node:timers/promises";
import { FakeClock } from "@holdfast/clock/testing";
import { Group } from "@holdfast/wait/go";
import { beforeEach, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { type Timeline, timelineOf } from "../../../../test/timeline.ts";
import { collectUncaught } from "../../../../test/uncaught.ts";
import { unreadable } from "../stage.ts";

let clock: FakeClock;
let group: Group;
let stop: AbortController;
let timeline: Timeline;

beforeEach(() => {
  clock = new FakeClock();
  group = new Group();
  stop = new AbortController();
  timeline = timelineOf(clock);
});

/** Work of a duration, which fails if it has an error. */
const work =
  (duration: number, ...error: readonly unknown[]) =>
  async () => {
    await clock.sleep(duration);
    timeline.note(`after ${duration}`);
    if (error.length > 0) throw error[0];
  };

it("wait resolves at once if no function is running", async () => {
  await timeline.noteEnd(group.wait());
  expect(timeline.events).toEqual([[0, "resolved"]]);
});

it("runs functions concurrently and waits for the last", async () => {
  group.start(work(2000));
  group.start(work(1000));
  const end = timeline.noteEnd(group.wait());
  await clock.step(5000);
  await end;
  expect(timeline.events).toEqual([
    [1000, "after 1000"],
    [2000, "after 2000"],
    [2000, "resolved"],
  ]);
});

it("waits for functions with a signal, too", async () => {
  const { signal } = new AbortController();
  group.startWithSignal(work(2000), signal);
  group.startWithSignal(work(1000), signal);
  const end = timeline.noteEnd(group.wait());
  await clock.step(5000);
  await end;
  expect(timeline.events.at(-1)).toEqual([2000, "resolved"]);
});

it("calls a function after start has returned", async () => {
  group.start(() => timeline.note("f"));
  timeline.note("started");
  await group.wait();
  expect(timeline.events.map(([, event]) => event)).toEqual(["started", "f"]);
});

it("waits for functions started during the wait, also by functions of the group", async () => {
  group.start(() => {
    group.start(work(1000));
  });
  const end = timeline.noteEnd(group.wait());
  await clock.step(500);
  group.start(work(2000));
  await clock.step(5000);
  await end;
  expect(timeline.events).toEqual([
    [1000, "after 1000"],
    [2500, "after 2000"],
    [2500, "resolved"],
  ]);
});

it("rejects with the error of a single failure when all have settled", async () => {
  const failure = new Error("refused");
  group.start(work(1000, failure));
  group.start(work(2000));
  const end = timeline.noteEnd(group.wait());
  await clock.step(2000);
  await end;
  expect(timeline.events).toEqual([
    [1000, "after 1000"],
    [2000, "after 2000"],
    [2000, ["rejected", failure]],
  ]);
});

it("rejects with an AggregateError of several failures, in their order", async () => {
  group.start(work(2000, "late"));
  group.start(() => {
    throw "at once";
  });
  group.start(work(1000, undefined));
  const end = group.wait().catch((error: unknown) => error);
  await clock.step(2000);
  const error = await end;
  expect(error).toBeInstanceOf(AggregateError);
  expect(error).toMatchObject({
    message: "3 functions of a group failed",
    errors: ["at once", undefined, "late"],
  });
});

it("settles every pending wait", async () => {
  const failure = new Error("refused");
  group.start(work(1000, failure));
  const ends = Promise.allSettled([group.wait(), group.wait()]);
  await clock.step(1000);
  expect(await ends).toEqual([
    { status: "rejected", reason: failure },
    { status: "rejected", reason: failure },
  ]);
});

it("can be reused, and reports a failure once", async () => {
  group.start(() => Promise.reject(new Error("refused")));
  await expect(group.wait()).rejects.toThrow("refused");
  await group.wait();
  group.start(work(0));
  const end = group.wait();
  await clock.step(0);
  await expect(end).resolves.toBeUndefined();
});

it("leaves a failure without a pending wait as an unhandled rejection", async () => {
  using uncaught = collectUncaught("unhandledRejection");
  const failure = new Error("refused");
  group.start(() => Promise.reject(failure));
  await setImmediate();
  expect(uncaught.errors).toEqual([failure]);
  await group.wait();
});

it("passes its signal to each function, aborted or not", async () => {
  const aborted = AbortSignal.abort();
  const seen: AbortSignal[] = [];
  group.startWithSignal((signal) => seen.push(signal), stop.signal);
  group.startWithSignal((signal) => seen.push(signal), aborted);
  await group.wait();
  expect(seen[0]).toBe(stop.signal);
  expect(seen[1]).toBe(aborted);
});

it("treats a rejection with signal.reason after the abort as success, and leaves no timer", async () => {
  group.startWithSignal((signal) => clock.sleep(60_000, { signal }), stop.signal);
  const end = timeline.noteEnd(group.wait());
  await clock.step(1000);
  stop.abort(new Error("SIGTERM"));
  await end;
  expect(timeline.events).toEqual([[1000, "resolved"]]);
  expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
});

it("treats any other error after the abort as a failure", async () => {
  const failure = new Error("could not flush");
  const flushed = (signal: AbortSignal) =>
    clock.sleep(60_000, { signal }).catch(() => {
      throw failure;
    });
  group.startWithSignal(flushed, stop.signal);
  const end = timeline.noteEnd(group.wait());
  await clock.step(0);
  stop.abort();
  await end;
  expect(timeline.events).toEqual([[0, ["rejected", failure]]]);
  expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
});

it("treats the reason of a signal that has not aborted as a failure", async () => {
  group.startWithSignal(() => Promise.reject(stop.signal.reason), stop.signal);
  await timeline.noteEnd(group.wait());
  expect(timeline.events).toEqual([[0, ["rejected", undefined]]]);
});

const circular: { readonly name: string; cause?: unknown } = { name: "AbortError" };
circular.cause = circular;

it.each([
  ["that cannot be read", unreadable()],
  ["whose causes go in a circle", circular],
])("does not take an error %s for the abort", async (_, error) => {
  group.startWithSignal(() => {
    stop.abort();
    throw error;
  }, stop.signal);
  const end = group.wait().catch((thrown: unknown) => [thrown === error]);
  expect(await end).toEqual([true]);
});
