import { FakeClock } from "@holdfast/clock/testing";
import { type QueueMetrics, type WorkInFlight, WorkQueue } from "@holdfast/controller";
import { describe, expect, it } from "vitest";
import { ignored, taken } from "./taken.ts";

/** Notes what it is told. */
function recorder() {
  const events: unknown[][] = [];
  const seen: { work: WorkInFlight | undefined } = { work: undefined };
  const note =
    (name: string) =>
    (...facts: unknown[]) =>
      void events.push([name, ...facts]);
  const metrics: QueueMetrics = {
    depth: note("depth"),
    added: note("added"),
    started: note("started"),
    finished: note("finished"),
    retried: note("retried"),
    watch(work) {
      seen.work = work;
    },
    ended: note("ended"),
  };
  const since = () => events.splice(0);
  return { metrics, seen, since };
}

describe("the metrics of a queue", () => {
  it("report the waiting and working time of a key, also of one added meanwhile", async () => {
    const clock = new FakeClock();
    const { metrics, seen, since } = recorder();
    const queue = new WorkQueue({ clock, metrics });
    queue.add("a");
    queue.add("a");
    expect(since()).toEqual([["added"], ["depth", 1, 0]]);
    await clock.step(50);
    const first = taken(queue);
    expect(since()).toEqual([
      ["depth", -1, 0],
      ["started", 50],
    ]);
    for (let i = 0; i < 5; i++) queue.add("a");
    expect(since()).toEqual([["added"], ["depth", 1, 0]]);
    await clock.step(25);
    expect([seen.work?.unfinished, seen.work?.longestRunning]).toEqual([25, 25]);
    first.done();
    expect(since()).toEqual([["finished", 25]]);
    const second = taken(queue);
    expect(since()).toEqual([
      ["depth", -1, 0],
      ["started", 25],
    ]);
    queue.add("b");
    await clock.step(10);
    const other = taken(queue);
    await clock.step(1);
    expect([seen.work?.unfinished, seen.work?.longestRunning]).toEqual([12, 11]);
    second.done();
    other.done();
    expect([seen.work?.unfinished, seen.work?.longestRunning]).toEqual([0, 0]);
  });

  it("count a delayed key when it is due, once, from then on", async () => {
    const clock = new FakeClock();
    const { metrics, since } = recorder();
    const queue = new WorkQueue({ clock, metrics });
    queue.add("a", { after: 10 });
    queue.retry("a");
    expect(since()).toEqual([["retried"], ["retried"]]);
    await clock.step(5);
    expect(since()).toEqual([["added"], ["depth", 1, 0]]);
    await clock.step(7);
    taken(queue).done();
    expect(since()).toEqual([
      ["depth", -1, 0],
      ["started", 7],
      ["finished", 0],
    ]);
  });

  it("move a key from one priority to another", () => {
    const { metrics, since } = recorder();
    const queue = new WorkQueue({ metrics });
    queue.add("a", { priority: -1 });
    queue.add("a", { priority: 2 });
    queue.add("a", { priority: 1 });
    expect(since()).toEqual([["added"], ["depth", 1, -1], ["depth", -1, -1], ["depth", 1, 2]]);
    const work = taken(queue);
    queue.add("a");
    queue.add("a", { priority: 3 });
    work.done();
    taken(queue).done();
    const depths: Record<number, number> = {};
    for (const [name, change, priority] of since())
      if (name === "depth")
        depths[priority as number] = (depths[priority as number] ?? 0) + (change as number);
    expect(depths).toEqual({ 0: 0, 2: -1, 3: 0 });
  });

  it("may call the queue: its state is final by then", () => {
    const queue: WorkQueue = new WorkQueue({
      metrics: { ...ignored, finished: () => queue.add("next") },
    });
    queue.add("a");
    taken(queue).done();
    expect([queue.size, queue.inFlight]).toEqual([1, 0]);
  });

  it("left out, reads no clock", () => {
    const clock = new FakeClock();
    let reads = 0;
    const counting = Object.assign(Object.create(clock), {
      monotonic: () => {
        reads++;
        return clock.monotonic();
      },
    });
    const queue = new WorkQueue({ clock: counting });
    queue.add("a");
    taken(queue).done();
    expect(reads).toBe(0);
  });
});
