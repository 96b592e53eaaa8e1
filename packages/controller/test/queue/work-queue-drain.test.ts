import { FakeClock } from "@holdfast/clock/testing";
import { WorkQueue } from "@holdfast/controller";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { takeAll, taken } from "./taken.ts";

const nothing = { finished: true, running: [], queued: [], delayed: [] };

/** Whether a promise has settled by now, and with what. */
function watched<Value>(promise: Promise<Value>): { value: Value | undefined } {
  const seen: { value: Value | undefined } = { value: undefined };
  void promise.then((value) => {
    seen.value = value;
  });
  return seen;
}

describe("shutting down", () => {
  it("hands out queued keys and keys added again, then nothing", async () => {
    const queue = new WorkQueue();
    queue.add("a");
    queue.add("b");
    const first = taken(queue);
    queue.add("a");
    queue.shutDown();
    queue.shutDown();
    queue.add("c");
    expect((await queue.get())?.key).toBe("b");
    const last = queue.get();
    first.done();
    expect((await last)?.key).toBe("a");
    expect([await queue.get(), queue.take(), queue.isShutDown]).toEqual([
      undefined,
      undefined,
      true,
    ]);
  });

  it("resolves every pending get", async () => {
    const queue = new WorkQueue();
    const waits = [queue.get(), queue.get(), queue.get()];
    queue.shutDown();
    expect(await Promise.all(waits)).toEqual([undefined, undefined, undefined]);
  });

  it("gives queued keys to a later get while others are pending, in order", async () => {
    const queue = new WorkQueue();
    const first = queue.get();
    queue.add("a");
    queue.add("b");
    queue.shutDown();
    const others = [queue.get(), queue.get()];
    const workItems = await Promise.all([first, ...others]);
    expect(workItems.map((work) => work?.key)).toEqual(["a", "b", undefined]);
  });

  it("keeps iterating until keys added again while in flight were handed out", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    const keys: string[] = [];
    const dispatch = async (): Promise<void> => {
      for await (const work of queue) {
        keys.push(work.key);
        void clock.sleep(10).then(() => work.done());
      }
    };
    const dispatched = dispatch();
    queue.add("a");
    await clock.step(5);
    queue.add("a");
    const drained = queue.drain({ timeout: 1_000 });
    await clock.step(1_000);
    await dispatched;
    expect([(await drained).finished, keys]).toEqual([true, ["a", "a"]]);
  });

  it("ignores an add with a delay for a key that is queued, or added again while in flight", () => {
    const queue = new WorkQueue<{ id: string; version: number }>({ keyOf: ({ id }) => id });
    queue.add({ id: "dirty", version: 1 }, { priority: 1 });
    const work = taken(queue);
    queue.add({ id: "dirty", version: 2 });
    queue.add({ id: "queued", version: 3 });
    queue.shutDown();
    for (const id of ["dirty", "queued"])
      queue.add({ id, version: 4 }, { after: 1_000, priority: 5 });
    work.done();
    const rest = [taken(queue), taken(queue)];
    expect(rest.map(({ item, priority }) => [item.version, priority])).toEqual([
      [2, 0],
      [3, 0],
    ]);
    expect(queue.delayed).toBe(0);
  });

  it("leaves no timer, and nothing becomes due", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.add("a", { after: 10 });
    queue.shutDown();
    expect(clock.waiters()).toBe(0);
    await clock.step(100);
    expect([queue.size, queue.delayed]).toEqual([0, 1]);
  });
});

describe("draining", () => {
  it("resolves at once when nothing is left to do", async () => {
    expect(await new WorkQueue().drain()).toEqual(nothing);
  });

  it("waits for queued keys, too (kubernetes/kubernetes#141079)", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.add("a");
    const drained = watched(queue.drain());
    await clock.step(1_000);
    expect(drained.value).toBeUndefined();
    takeAll(queue);
    await clock.step(0);
    expect(drained.value).toEqual(nothing);
  });

  it("waits for the second run of a key that was added while it ran (kubernetes/kubernetes#141079)", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.add("a");
    const first = taken(queue);
    queue.add("a");
    const drained = watched(queue.drain());
    first.done();
    await clock.step(1_000);
    expect(drained.value).toBeUndefined();
    takeAll(queue);
    await clock.step(0);
    expect(drained.value).toEqual(nothing);
  });

  it("resolves for every caller (kubernetes/kubernetes#141079)", async () => {
    const queue = new WorkQueue();
    queue.add("a");
    const drains = [queue.drain(), queue.drain(), queue.drain()];
    takeAll(queue);
    expect(await Promise.all(drains)).toEqual([nothing, nothing, nothing]);
  });

  it("reports delayed and retried keys with the rest of their delays", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.add("later", { after: 1_000 });
    queue.add("failing");
    queue.add("succeeding");
    const [failing, succeeding] = [taken(queue), taken(queue)];
    const drained = queue.drain();
    await clock.step(100);
    queue.retry("failing");
    queue.add("again", { after: 50 });
    queue.add("ignored");
    failing.done();
    await clock.step(10);
    succeeding.done();
    expect(await drained).toEqual({
      ...nothing,
      delayed: [
        { key: "failing", item: "failing", after: 0 },
        { key: "again", item: "again", after: 40 },
        { key: "later", item: "later", after: 890 },
      ],
    });
    expect(clock.waiters()).toBe(0);
  });

  it("reports running and queued keys at its timeout (kubernetes-sigs/controller-runtime#3239)", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    for (const key of ["a", "b", "c", "d"]) queue.add(key);
    const [first] = [taken(queue), taken(queue)];
    queue.add("a");
    const drained = watched(queue.drain({ timeout: 1_000 }));
    await clock.step(999);
    expect(drained.value).toBeUndefined();
    await clock.step(1);
    expect(drained.value).toEqual({
      finished: false,
      running: ["a", "b"],
      queued: ["c", "d", "a"],
      delayed: [],
    });
    first.done();
    expect([queue.size, clock.waiters()]).toEqual([3, 0]);
  });

  it("reports the queued keys in the order in which they would have been taken", async () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    queue.add("low", { priority: -1 });
    queue.add("first");
    queue.add("second");
    queue.add("high", { priority: 1 });
    expect((await queue.drain({ timeout: 0 })).queued).toEqual(["high", "first", "second", "low"]);
  });

  it("stops its timer and leaves no listener when it ends in time", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    const { signal } = new AbortController();
    queue.add("a");
    const drained = queue.drain({ timeout: 1_000, signal });
    takeAll(queue);
    expect(await drained).toEqual(nothing);
    expect([clock.waiters(), abortListeners(signal)]).toEqual([0, 0]);
  });

  it("rejects on abort at once, with the reason, and the queue stays shut down", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    const stop = new AbortController();
    const reason = new Error("stop");
    queue.add("a");
    const drained = queue.drain({ timeout: 1_000, signal: stop.signal });
    stop.abort(reason);
    await expect(drained).rejects.toBe(reason);
    expect([clock.waiters(), abortListeners(stop.signal), queue.isShutDown]).toEqual([0, 0, true]);
    await expect(queue.drain({ signal: stop.signal })).rejects.toBe(reason);
    expect(clock.waiters()).toBe(0);
  });

  it("happens at the end of `await using`", async () => {
    const clock = new FakeClock();
    const seen: string[] = [];
    {
      await using queue = new WorkQueue({ clock });
      void (async () => {
        for await (using work of queue) seen.push(work.key);
      })();
      queue.add("a");
      queue.add("b", { after: 10 });
    }
    expect([seen, clock.waiters()]).toEqual([["a"], 0]);
  });
});
