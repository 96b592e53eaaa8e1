import { FakeClock } from "@holdfast/clock/testing";
import { WorkQueue } from "@holdfast/controller";
import { describe, expect, it } from "vitest";
import { JumpingClock } from "../../../../test/jumping-clock.ts";
import { ignored, takeAll, taken } from "./taken.ts";

describe("priorities", () => {
  it("go high before low, and first come, first served among equals", () => {
    const queue = new WorkQueue();
    for (const [key, priority] of [
      ["a", 0],
      ["b", -5],
      ["c", 5],
      ["d", 0],
      ["e", 5],
      ["f", 0.5],
    ] as const)
      queue.add(key, { priority });
    expect(takeAll(queue)).toEqual(["c", "e", "f", "a", "d", "b"]);
  });

  it("only rise until the key is handed out, to the back of the new level", () => {
    const queue = new WorkQueue();
    queue.add("a");
    queue.add("b", { priority: 1 });
    queue.add("a", { priority: 1 });
    queue.add("b", { priority: -1 });
    const first = taken(queue);
    expect([first.key, first.priority]).toEqual(["b", 1]);
    expect([taken(queue).key, queue.size]).toEqual(["a", 0]);
  });

  it("are not inherited from the previous work item (kubernetes-sigs/controller-runtime#3157)", () => {
    const queue = new WorkQueue();
    queue.add("a", { priority: 5 });
    const first = taken(queue);
    queue.add("a");
    first.done();
    expect(taken(queue).priority).toBe(0);
  });

  it("keep the highest priority requested while a key is in flight", () => {
    const queue = new WorkQueue();
    queue.add("a");
    const first = taken(queue);
    queue.add("a", { priority: 1 });
    queue.add("a", { priority: 3 });
    queue.add("a", { priority: 2 });
    first.done();
    expect(taken(queue).priority).toBe(3);
  });

  it("of a delayed key merge with the priority of an add", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.add("a", { after: 10, priority: 1 });
    queue.add("a", { after: 20, priority: 3 });
    queue.add("b", { after: 10, priority: 2 });
    await clock.step(10);
    expect(takeAll(queue)).toEqual(["a", "b"]);
    queue.add("c", { after: 10, priority: 1 });
    queue.add("c");
    expect(taken(queue).priority).toBe(1);
  });

  it("decide between a key that is queued and one that has just become due", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.add("ready");
    queue.add("due", { after: 10, priority: 1 });
    await clock.step(10);
    expect(takeAll(queue)).toEqual(["due", "ready"]);
  });

  it("keep the order of keys raised out of a long queue", () => {
    const queue = new WorkQueue();
    const keys = Array.from({ length: 100 }, (_, i) => `${i}`);
    for (const key of keys) queue.add(key);
    const raised = keys.filter((_, i) => i % 4 !== 3);
    for (const key of raised) queue.add(key, { priority: 1 });
    const rest = keys.filter((_, i) => i % 4 === 3);
    expect(queue.size).toBe(100);
    for (const key of ["100", "101"]) queue.add(key);
    expect(takeAll(queue)).toEqual([...raised, ...rest, "100", "101"]);
  });
});

describe("a key that is added again while in flight", () => {
  it.each([0, 1, -1])("is queued by the time of that add at priority %i", async (priority) => {
    for (const elapsed of [0, 1]) {
      const clock = new FakeClock();
      const queue = new WorkQueue({ clock });
      queue.add("again", { priority });
      const work = taken(queue);
      queue.add("before", { priority });
      await clock.step(elapsed);
      queue.add("again", { priority });
      await clock.step(elapsed);
      queue.add("after", { priority });
      work.done();
      expect(takeAll(queue)).toEqual(["before", "again", "after"]);
    }
  });

  it.each([{ metrics: undefined }, { metrics: ignored }])(
    "keeps that time when a priority is used for the first time later, with metrics and without",
    async ({ metrics }) => {
      const clock = new FakeClock();
      const queue = new WorkQueue({ clock, metrics });
      queue.add("first");
      queue.add("second");
      const [first, second] = [taken(queue), taken(queue)];
      for (const key of ["a", "first", "b", "second", "c"]) {
        queue.add(key);
        await clock.step(1);
      }
      first.done();
      queue.add("high", { priority: 1 });
      second.done();
      expect(takeAll(queue)).toEqual(["high", "a", "first", "b", "second", "c"]);
    },
  );
});

describe("aging", () => {
  it("hands out a low priority in time while higher ones keep coming (kubernetes-sigs/controller-runtime#3496)", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock, aging: 1_000 });
    queue.add("low", { priority: -100 });
    let rounds = 0;
    for (let key = ""; key !== "low"; rounds++) {
      queue.add("busy");
      await clock.step(500);
      const work = taken(queue);
      key = work.key;
      work.done();
    }
    expect(rounds).toBe(201);
  });

  it.each([
    { waited: 9_999, first: "high" },
    { waited: 10_001, first: "plain" },
  ])("makes $waited ms of waiting worth that many steps of 1 s", async ({ waited, first }) => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.add("other", { priority: 1 });
    taken(queue);
    queue.add("plain");
    await clock.step(waited);
    queue.add("high", { priority: 10 });
    expect(taken(queue).key).toBe(first);
  });

  it.each([
    { late: 9_999, first: "high" },
    { late: 10_001, first: "delayed" },
  ])("counts $late ms that a delayed key was late", async ({ late, first }) => {
    const base = new FakeClock();
    const clock = new JumpingClock(base);
    const queue = new WorkQueue({ clock });
    queue.add("other", { priority: 1 });
    taken(queue);
    queue.add("delayed", { after: 1_000 });
    clock.standStill(late); // a busy process, whose timers fire late
    await base.step(1_000);
    queue.add("high", { priority: 10 });
    expect(takeAll(queue)[0]).toBe(first);
  });

  it("does not move a key back that has aged beyond its new priority", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.add("low", { priority: -1 });
    queue.add("plain");
    await clock.step(5_000);
    queue.add("new", { priority: 2 });
    queue.add("low", { priority: 1 });
    queue.add("plain", { priority: 1 });
    expect(takeAll(queue)).toEqual(["plain", "low", "new"]);
  });

  it("is off with Infinity", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock, aging: Number.POSITIVE_INFINITY });
    queue.add("plain");
    await clock.step(1e12);
    queue.add("high", { priority: 0.001 });
    expect(takeAll(queue)).toEqual(["high", "plain"]);
  });

  it.each([{ metrics: undefined }, { metrics: ignored }])(
    "counts from the first use of a priority, with metrics and without",
    async ({ metrics }) => {
      const clock = new FakeClock();
      const queue = new WorkQueue({ clock, metrics });
      queue.add("again");
      const work = taken(queue);
      queue.add("again");
      await clock.step(60_000);
      queue.add("high", { priority: 1 });
      work.done();
      queue.add("plain");
      expect(takeAll(queue)).toEqual(["high", "again", "plain"]);
    },
  );
});
