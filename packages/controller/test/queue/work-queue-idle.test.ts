import { FakeClock } from "@holdfast/clock/testing";
import { WorkQueue } from "@holdfast/controller";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { takeAll, taken } from "./taken.ts";

/** A queue, and the order in which waits for its idleness end. */
function setUp() {
  const clock = new FakeClock();
  const queue = new WorkQueue({ clock });
  const stop = new AbortController();
  const ended: unknown[] = [];
  const wait = (name: string, signal?: AbortSignal): void =>
    void queue.idle(signal).then(
      () => ended.push(name),
      (reason: unknown) => ended.push([name, reason]),
    );
  const leftovers = (): number[] => [clock.waiters(), abortListeners(stop.signal)];
  return { clock, queue, stop, ended, wait, leftovers };
}

describe("idle", () => {
  it("resolves at once for an empty queue, also after shutDown", async () => {
    const { queue, stop, leftovers } = setUp();
    await queue.idle(stop.signal);
    queue.shutDown();
    await queue.idle();
    expect(leftovers()).toEqual([0, 0]);
  });

  it("waits for queued keys, keys in flight and keys added again in flight", async () => {
    const { clock, queue, ended, stop, wait, leftovers } = setUp();
    queue.add("a");
    wait("first", stop.signal);
    const work = taken(queue);
    queue.add("a");
    await clock.step(1_000);
    work.done();
    await clock.step(1_000);
    expect(ended).toEqual([]);
    wait("second");
    takeAll(queue);
    await clock.step(0);
    expect(ended).toEqual(["first", "second"]);
    expect(leftovers()).toEqual([0, 0]);
  });

  it("waits for delayed keys to become due, and for their work", async () => {
    const { clock, queue, ended, wait } = setUp();
    queue.add("a", { after: 1_000 });
    queue.add("b");
    takeAll(queue);
    wait("idle");
    await clock.step(1_000);
    expect([ended, queue.size]).toEqual([[], 1]);
    taken(queue).done();
    await clock.step(0);
    expect(ended).toEqual(["idle"]);
  });

  it("resolves when the last delayed key is cancelled", async () => {
    const { clock, queue, ended, wait, leftovers } = setUp();
    queue.add("a", { after: 1_000 });
    queue.add("b", { after: Number.POSITIVE_INFINITY });
    wait("idle");
    queue.cancel("a");
    await clock.step(10_000);
    expect(ended).toEqual([]);
    queue.cancel("b");
    await clock.step(0);
    expect(ended).toEqual(["idle"]);
    expect(leftovers()).toEqual([0, 0]);
  });

  it("resolves when shutDown leaves only delayed keys", async () => {
    const { clock, queue, ended, wait } = setUp();
    queue.add("a", { after: 1_000 });
    wait("idle");
    queue.shutDown();
    await clock.step(0);
    expect([ended, queue.delayed]).toEqual([["idle"], 1]);
    await queue.idle();
  });

  it("rejects with signal.reason at once when aborted, and leaves other calls pending", async () => {
    const { clock, queue, stop, ended, wait, leftovers } = setUp();
    queue.add("a");
    wait("aborted", stop.signal);
    wait("pending");
    await clock.step(0);
    expect(leftovers()).toEqual([0, 1]);
    stop.abort("enough");
    await clock.step(0);
    expect(ended).toEqual([["aborted", "enough"]]);
    expect(leftovers()).toEqual([0, 0]);
    takeAll(queue);
    await clock.step(0);
    expect(ended).toEqual([["aborted", "enough"], "pending"]);
  });

  it("rejects with signal.reason when aborted before the call, even if the queue is idle", async () => {
    const { queue } = setUp();
    await expect(queue.idle(AbortSignal.abort("enough"))).rejects.toBe("enough");
  });

  it("resolves together with a drain", async () => {
    const { clock, queue, ended, wait } = setUp();
    queue.add("a");
    wait("idle");
    const drained = queue.drain().then(() => ended.push("drained"));
    takeAll(queue);
    await drained;
    await clock.step(0);
    expect(ended.toSorted()).toEqual(["drained", "idle"]);
  });
});
