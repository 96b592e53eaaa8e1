import { FakeClock } from "@holdfast/clock/testing";
import { WorkQueue } from "@holdfast/controller";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { collectGarbage } from "../../../../test/collect-garbage.ts";
import { takeAll, taken } from "./taken.ts";

describe("adding and taking", () => {
  it("hands each key out once, however often it was added, in the order of the first adds", () => {
    const queue = new WorkQueue();
    for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
    expect(queue.size).toBe(3);
    expect(takeAll(queue)).toEqual(["a", "b", "c"]);
    expect([queue.size, queue.inFlight, queue.delayed]).toEqual([0, 0, 0]);
  });

  it("does not hand a key out twice at once, and hands it out again when done, in order of the adds", () => {
    const queue = new WorkQueue();
    queue.add("a");
    const first = taken(queue);
    queue.add("a");
    queue.add("a");
    queue.add("b");
    expect([queue.size, queue.inFlight]).toEqual([1, 1]);
    first.done();
    expect(takeAll(queue)).toEqual(["a", "b"]);
  });

  it("knows items by their key, and hands out the latest of a key", () => {
    const queue = new WorkQueue<{ id: number; size: number }>({ keyOf: ({ id }) => `${id}` });
    queue.add({ id: 1, size: 1 });
    queue.add({ id: 1, size: 2 });
    const first = taken(queue);
    queue.add({ id: 1, size: 3 });
    expect([first.key, first.item.size, queue.size]).toEqual(["1", 2, 0]);
    first.done();
    queue.add({ id: 1, size: 4 });
    expect(taken(queue).item.size).toBe(4);
  });

  it("refuses an object without keyOf, which would never equal another (solo-io/solo-kit#353)", () => {
    // @ts-expect-error: keyOf is required where items are not strings
    const queue = new WorkQueue<object>();
    expect(() => queue.add({})).toThrow(
      new TypeError("the key of an item must be a string, got [object Object]"),
    );
    // @ts-expect-error: keyOf is required where items are not strings
    expect(() => new WorkQueue<number>({ name: "numbers" }).add(1)).toThrow(TypeError);
    expect(queue.size).toBe(0);
  });

  it("ignores a second done of a work item after its key was taken again (kubernetes/kubernetes#79934)", () => {
    const queue = new WorkQueue();
    queue.add("a");
    const first = taken(queue);
    first.done();
    queue.add("a");
    const second = taken(queue);
    queue.add("a");
    first.done();
    first[Symbol.dispose]();
    expect([queue.size, queue.inFlight]).toEqual([0, 1]);
    second.done();
    expect(takeAll(queue)).toEqual(["a"]);
  });

  it("is done when a `using` block is left, by an error too", () => {
    const queue = new WorkQueue();
    queue.add("a");
    expect(() => {
      using _work = taken(queue);
      throw new Error("crashed");
    }).toThrow("crashed");
    expect(queue.inFlight).toBe(0);
  });

  it("keeps the order of 5,000 keys through growing and shrinking", () => {
    const queue = new WorkQueue();
    const keys = Array.from({ length: 5_000 }, (_, i) => `${i}`);
    for (let round = 0; round < 3; round++) {
      for (const key of keys) queue.add(key);
      expect(takeAll(queue)).toEqual(keys);
    }
  });

  it("holds nothing of an item that is done (kubernetes/kubernetes#104991)", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue<{ id: string }>({ keyOf: ({ id }) => id, clock });
    const ways: Record<string, (item: { id: string }) => void> = {
      added: (item) => queue.add(item),
      prior: (item) => queue.add(item, { priority: 1 }),
      delayed: (item) => queue.add(item, { after: 1 }),
      cancelled(item) {
        queue.add(item, { after: 10 });
        queue.cancel(item);
      },
      replaced(item) {
        queue.add(item);
        queue.add({ ...item });
      },
    };
    const refs = Object.entries(ways).map(([id, add]) => {
      const item = { id };
      add(item);
      return new WeakRef(item);
    });
    clock.stepSync(1);
    expect(takeAll(queue).toSorted()).toEqual(["added", "delayed", "prior", "replaced"]);
    await collectGarbage();
    expect(refs.map((ref) => ref.deref())).toEqual(refs.map(() => undefined));
  });

  it("releases the memory of a hundred thousand delayed keys", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    const before = await bytesHeld();
    for (let i = 0; i < 100_000; i++)
      queue.add(`${i}`, { after: 1 + (i % 1_000), priority: i % 2 });
    const most = (await bytesHeld()) - before;
    expect(most).toBeGreaterThan(1e7);
    await clock.step(1_000);
    expect(takeAll(queue)).toHaveLength(100_000);
    await expectHeldWithin(before + most / 10);
    expect(queue.size).toBe(0);
  });

  it("does not grow while keys are raised behind a key that is never taken", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock, aging: Number.POSITIVE_INFINITY });
    queue.add("first");
    const before = await bytesHeld();
    for (let i = 0; i < 300_000; i++) {
      queue.add("other");
      queue.add("other", { priority: 1 });
      taken(queue).done();
    }
    await expectHeldWithin(before + 1e6);
    expect(takeAll(queue)).toEqual(["first"]);
  });
});

async function bytesHeld(): Promise<number> {
  await collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Memory is freed on another thread, some time after it was collected. */
async function expectHeldWithin(bytes: number): Promise<void> {
  let held = await bytesHeld();
  for (let i = 0; i < 100 && held > bytes; i++) held = await bytesHeld();
  expect(held).toBeLessThanOrEqual(bytes);
}

describe("waiting for work", () => {
  it("resolves pending gets in the order of their calls", async () => {
    const queue = new WorkQueue();
    const both = Promise.all([queue.get(), queue.get()]);
    queue.add("a");
    queue.add("b");
    expect((await both).map((work) => work?.key)).toEqual(["a", "b"]);
  });

  it("gives a key to a pending get before a later one", async () => {
    const queue = new WorkQueue();
    const first = queue.get();
    queue.add("a");
    const second = queue.get();
    queue.add("b");
    expect([(await first)?.key, (await second)?.key]).toEqual(["a", "b"]);
  });

  it("serves a get with the first key in order, not the first added (kubernetes-sigs/controller-runtime#3363)", async () => {
    const queue = new WorkQueue();
    const next = queue.get();
    queue.add("low");
    queue.add("high", { priority: 1 });
    expect((await next)?.key).toBe("high");
  });

  it("lets workers that want the same key wait in turn: never two at once", async () => {
    const queue = new WorkQueue();
    queue.add("a");
    const first = await queue.get();
    queue.add("a");
    let second: string | undefined;
    const got = queue.get().then((work) => {
      second = work?.key;
    });
    await new FakeClock().step(1);
    expect(second).toBeUndefined();
    first?.done();
    await got;
    expect(second).toBe("a");
  });

  it("ends a wait at once on abort, with the reason, leaving no listener and no claim", async () => {
    const queue = new WorkQueue();
    const stop = new AbortController();
    const reason = new Error("stop");
    const waits = [queue.get(stop.signal), queue.get(stop.signal)];
    const other = queue.get();
    expect(abortListeners(stop.signal)).toBe(1);
    stop.abort(reason);
    for (const wait of waits) await expect(wait).rejects.toBe(reason);
    await expect(queue.get(stop.signal)).rejects.toBe(reason);
    queue.add("a");
    expect((await other)?.key).toBe("a");
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it("leaves no listener once served", async () => {
    const queue = new WorkQueue();
    const stop = new AbortController();
    const wait = queue.get(stop.signal);
    queue.add("a");
    expect((await wait)?.key).toBe("a");
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it("iterates until the queue is shut down and empty", async () => {
    const queue = new WorkQueue();
    const seen: string[] = [];
    const worker = async () => {
      for await (using work of queue) seen.push(work.key);
    };
    const workers = [worker(), worker()];
    queue.add("a");
    queue.add("b");
    await new FakeClock().step(1);
    queue.add("c");
    queue.shutDown();
    await Promise.all(workers);
    expect(seen).toEqual(["a", "b", "c"]);
    expect(queue.inFlight).toBe(0);
  });
});

describe("adding with a delay", () => {
  it("runs a key once at its time, and the earlier of two times holds", async () => {
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

  it("runs a delayed key once, at once, when it is added (kubernetes/kubernetes#126027)", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.add("a", { after: 50 });
    queue.add("a");
    expect([queue.delayed, clock.waiters()]).toEqual([0, 0]);
    expect(takeAll(queue)).toEqual(["a"]);
    await clock.step(1_000);
    expect(queue.size).toBe(0);
  });

  it("does not run a queued key later again", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.add("a");
    queue.add("a", { after: 50 });
    expect(takeAll(queue)).toEqual(["a"]);
    await clock.step(1_000);
    expect(queue.size).toBe(0);
  });

  it("hands keys that are due at one instant out in the order in which they were added (kubernetes' order is arbitrary)", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    const keys = Array.from({ length: 20 }, (_, i) => `${i}`);
    for (const key of keys) queue.add(key, { after: 10 });
    await clock.step(10);
    expect(takeAll(queue)).toEqual(keys);
  });

  it("queues in the order of the times, though one step passes them all", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.add("third", { after: 1_000 });
    queue.add("second", { after: 500 });
    queue.add("first", { after: 250 });
    clock.stepSync(2_000);
    expect(takeAll(queue)).toEqual(["first", "second", "third"]);
  });

  it("queues a key that becomes due in flight when its work is done", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.add("a");
    const work = taken(queue);
    queue.add("a", { after: 10 });
    await clock.step(10);
    expect([queue.size, queue.delayed]).toEqual([0, 0]);
    work.done();
    expect(takeAll(queue)).toEqual(["a"]);
  });

  it("keeps the delay of a key that is done before its time", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.add("a");
    const work = taken(queue);
    queue.add("a", { after: 10 });
    work.done();
    expect([queue.size, queue.delayed, queue.inFlight]).toEqual([0, 1, 0]);
    await clock.step(10);
    expect(takeAll(queue)).toEqual(["a"]);
  });

  it("serves a waiting getter at the instant a key is due", async () => {
    const clock = new FakeClock();
    const start = clock.monotonic();
    const queue = new WorkQueue({ clock });
    queue.add("a", { after: 10 });
    let servedAt: number | undefined;
    const served = queue.get().then(() => {
      servedAt = clock.monotonic() - start;
    });
    await clock.step(1_000);
    await served;
    expect(servedAt).toBe(10);
  });

  it("cancels a delayed key, and only that (kubernetes/kubernetes#113607)", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.add("delayed", { after: 10 });
    queue.add("queued");
    queue.add("busy");
    queue.add("both");
    const [, busy, both] = [taken(queue), taken(queue), taken(queue)];
    queue.add("queued");
    queue.add("both", { after: 10 });
    const cancelled = ["delayed", "queued", "busy", "both", "unknown"].map((key) =>
      queue.cancel(key),
    );
    expect(cancelled).toEqual([true, false, false, true, false]);
    expect([queue.delayed, clock.waiters()]).toEqual([0, 0]);
    busy.done();
    both.done();
    expect(queue.inFlight).toBe(1);
    queue.add("delayed");
    expect(takeAll(queue)).toEqual(["delayed"]);
  });

  it("has one timer for any number of delayed keys (kubernetes/kubernetes#83895)", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock, name: "shop" });
    for (let i = 0; i < 1_000; i++) queue.add(`${i}`, { after: 1_000 + ((i * 7_919) % 1_000) });
    expect([queue.delayed, clock.waiters()]).toEqual([1_000, 1]);
    expect(clock.pending()[0]?.label).toBe("shop");
    await clock.step(1_500);
    expect([queue.delayed + queue.size, clock.waiters()]).toEqual([1_000, 1]);
  });

  it("waits for years, and with Infinity until the key is added again", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    const year = 366 * 24 * 3_600_000;
    queue.add("never", { after: Number.POSITIVE_INFINITY });
    expect(clock.waiters()).toBe(0);
    queue.add("year", { after: year });
    await clock.step(year - 1);
    expect([queue.size, queue.delayed]).toEqual([0, 2]);
    await clock.step(1);
    expect(takeAll(queue)).toEqual(["year"]);
    expect([queue.delayed, clock.waiters()]).toEqual([1, 0]);
    queue.add("never", { after: 1 });
    await clock.step(1);
    expect(takeAll(queue)).toEqual(["never"]);
  });

  it("advances with its timers although the clock does not (a faked timer over a real clock)", () => {
    const fires: (() => void)[] = [];
    const clock = Object.assign(Object.create(new FakeClock()), {
      monotonic: () => 0,
      afterFunc(_delay: number, fire: () => void) {
        fires.push(fire);
        return { stop: () => true, reset: () => true };
      },
    });
    const queue = new WorkQueue({ clock });
    queue.add("a", { after: 10 });
    queue.add("b", { after: 20 });
    for (const fire of fires) fire();
    expect(takeAll(queue)).toEqual(["a"]);
  });

  it("keeps the order among equals where two sums differ in their last digits", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    await clock.step(0.1);
    queue.add("first", { after: 0.3 });
    await clock.step(0.1);
    queue.add("second", { after: 0.2 });
    await clock.step(0.2);
    expect(takeAll(queue)).toEqual(["first", "second"]);
  });

  it("advances at fractions of a nanosecond", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    await clock.step(0.1);
    queue.add("a", { after: 0.2 });
    queue.add("b", { after: 1 / 3 });
    await clock.step(1);
    expect(takeAll(queue)).toEqual(["a", "b"]);
  });

  it("lets time pass for any delay above 0, so repeated requests for a remainder terminate", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    await clock.step(1_055_180.534144);
    const start = clock.monotonic();
    queue.add("a", { after: 2.4e-10 });
    const { signal } = new AbortController();
    const taken = queue.get(signal).then(() => clock.monotonic());
    await clock.step(1);
    expect((await taken) - start).toBeCloseTo(1e-6, 9);
  });
});

describe("retrying", () => {
  it("waits longer after each failure, for each key on its own, until it is forgotten", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    const delays: number[] = [];
    for (let i = 0; i < 3; i++) {
      delays.push(queue.retry("a"));
      await clock.step(1_000);
      takeAll(queue);
    }
    expect(delays).toEqual([5, 10, 20]);
    expect([queue.requeues("a"), queue.requeues("b"), queue.retry("b")]).toEqual([3, 0, 5]);
    queue.forget("a");
    expect([queue.requeues("a"), queue.retry("a")]).toEqual([0, 5]);
  });

  it("does not run away to the cap when events run a failing key early (kubernetes/kubernetes#132805)", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    const run = () => {
      const work = taken(queue);
      queue.retry(work.item);
      work.done();
    };
    queue.add("a");
    run();
    for (let i = 0; i < 100; i++) {
      queue.add("a"); // an event, while the key backs off
      run();
    }
    expect(queue.requeues("a")).toBe(1);
    await clock.step(5);
    run();
    expect(queue.requeues("a")).toBe(2);
    expect(queue.delayed).toBe(1);
  });

  it("keeps an item added in flight when another object of its key is retried", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue<{ id: string; version: number }>({ clock, keyOf: ({ id }) => id });
    const versions: number[] = [];
    queue.add({ id: "a", version: 1 });
    for (const add of [{ after: 1 }, { after: 0 }, undefined]) {
      const work = taken(queue);
      const { version } = work.item;
      versions.push(version);
      if (add !== undefined) queue.add({ id: "a", version: version + 1 }, add);
      queue.retry({ id: "a", version: version + 10 });
      work.done();
      await clock.step(1_000);
    }
    expect([...versions, queue.take()?.item.version]).toEqual([1, 2, 3, 13]);
  });

  it("retries at the given priority", async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.retry("low", { priority: -1 });
    queue.retry("high", { priority: 1 });
    await clock.step(5);
    expect(takeAll(queue)).toEqual(["high", "low"]);
  });

  it("refuses a limiter that returns no number, which would make a loop hot", () => {
    const limiter = { when: () => Number.NaN, forget: () => {}, requeues: () => 0 };
    const queue = new WorkQueue({ limiter });
    expect(() => queue.retry("a")).toThrow(
      new RangeError(
        "the delay that options.limiter returns must be a number of milliseconds, got NaN",
      ),
    );
    expect([queue.size, queue.delayed]).toEqual([0, 0]);
  });
});
