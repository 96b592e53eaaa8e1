import { FakeClock } from "@holdfast/clock/testing";
import { type HandOut, WorkQueue } from "@holdfast/controller";
import { describe, expect, it } from "vitest";

/** Takes everything there is, and is done with each at once. */
function takeAll<Item>(queue: WorkQueue<Item>): string[] {
  const keys: string[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) {
    keys.push(next.key);
    next.done();
  }
  return keys;
}

function taken<Item>(queue: WorkQueue<Item>): HandOut<Item> {
  const handOut = queue.take();
  if (handOut === undefined) throw new Error("nothing to take");
  return handOut;
}

describe("a WorkQueue", () => {
  it("hands each key out once, however often it was added, in the order of the first time", () => {
    const queue = new WorkQueue();
    for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
    expect(queue.size).toBe(3);
    expect(takeAll(queue)).toEqual(["a", "b", "c"]);
    expect([queue.size, queue.inFlight, queue.delayed]).toEqual([0, 0, 0]);
  });

  it("does not hand a key out twice at once, and hands it out again after done, at the back", () => {
    const queue = new WorkQueue();
    queue.add("a");
    const first = taken(queue);
    queue.add("a");
    queue.add("a");
    queue.add("b");
    expect(queue.size).toBe(1);
    first.done();
    expect(takeAll(queue)).toEqual(["b", "a"]);
  });

  it("gives a waiting getter the key that comes first, not the one that was added first", async () => {
    const queue = new WorkQueue();
    const next = queue.get();
    queue.add("low");
    queue.add("high", { priority: 1 });
    expect((await next)?.key).toBe("high");
  });

  it("runs a delayed key once at its time, and the earlier of two times wins", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.add("a", { after: 50 });
    queue.add("a", { after: 70 });
    queue.add("b", { after: 70 });
    queue.add("b", { after: 30 });
    expect([queue.size, queue.delayed, clock.waiters()]).toEqual([0, 2, 1]);
    await clock.step(29);
    expect(queue.size).toBe(0);
    await clock.step(1);
    expect(takeAll(queue)).toEqual(["b"]);
    await clock.step(20);
    expect(takeAll(queue)).toEqual(["a"]);
    await clock.step(1_000);
    expect([queue.size, queue.delayed, clock.waiters()]).toEqual([0, 0, 0]);
  });

  it("drains what is queued and in flight, and reports what was delayed", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.add("a");
    queue.add("later", { after: 1_000 });
    const drained = queue.drain();
    const handOut = await queue.get();
    expect(handOut?.key).toBe("a");
    handOut?.done();
    expect(await drained).toEqual({
      finished: true,
      running: [],
      queued: [],
      delayed: [{ key: "later", item: "later", after: 1_000 }],
    });
    expect(await queue.get()).toBeUndefined();
    expect(clock.waiters()).toBe(0);
  });
});
