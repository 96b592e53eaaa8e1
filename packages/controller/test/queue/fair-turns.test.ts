import { FakeClock } from "@holdfast/clock/testing";
import { Controller, silentLogger, type WorkItem, WorkQueue } from "@holdfast/controller";
import { seededRandom } from "@holdfast/wait/strategies";
import { describe, expect, inject, it } from "vitest";

const tenantOf = (key: string): string => key.split("/")[0] as string;

function queueOf(clock = new FakeClock()): WorkQueue {
  return new WorkQueue({ clock, fairBy: tenantOf });
}

/** Takes all queued keys, and ends their work. */
function drained(queue: WorkQueue): string[] {
  const keys: string[] = [];
  for (let work = queue.take(); work !== undefined; work = queue.take()) {
    keys.push(work.key);
    work.done();
  }
  return keys;
}

describe("groups take turns", () => {
  it("one key each, in the order in which they came", () => {
    const queue = queueOf();
    for (const key of ["a/1", "a/2", "a/3", "a/4", "b/1", "c/1", "b/2"]) queue.add(key);
    expect(queue.size).toBe(7);
    expect(drained(queue)).toEqual(["a/1", "b/1", "c/1", "a/2", "b/2", "a/3", "a/4"]);
  });

  it("a group that comes back is behind the others", () => {
    const queue = queueOf();
    for (const key of ["a/1", "b/1", "b/2", "b/3"]) queue.add(key);
    queue.take()?.done();
    queue.add("a/2");
    expect(drained(queue)).toEqual(["b/1", "a/2", "b/2", "b/3"]);
  });

  it("priorities, and their aging, count within a group", async () => {
    const clock = new FakeClock();
    const queue = queueOf(clock);
    queue.add("a/low", { priority: -1 });
    queue.add("a/1");
    queue.add("b/1");
    queue.add("a/high", { priority: 5 });
    expect(drained(queue)).toEqual(["a/high", "b/1", "a/1", "a/low"]);
    queue.add("a/old");
    await clock.step(5_001);
    queue.add("a/high", { priority: 5 });
    expect(drained(queue)).toEqual(["a/old", "a/high"]);
  });

  it("a key whose priority rises stays in its group", () => {
    const queue = queueOf();
    for (const key of ["a/1", "a/2", "b/1", "b/2", "a/3"]) queue.add(key);
    queue.add("a/3", { priority: 1 });
    queue.add("b/2", { priority: 1 });
    queue.add("a/2", { priority: 1 });
    expect(drained(queue)).toEqual(["a/3", "b/2", "a/2", "b/1", "a/1"]);
  });

  it("delayed keys, and those added again in flight, take the turns of their groups", async () => {
    const clock = new FakeClock();
    const queue = queueOf(clock);
    queue.add("a/1");
    queue.add("a/2", { after: 100 });
    queue.add("b/1", { after: 100 });
    const work = queue.take();
    queue.add("a/1");
    await clock.step(100);
    expect([queue.size, queue.delayed]).toEqual([2, 0]);
    work?.done();
    expect(drained(queue)).toEqual(["a/1", "b/1", "a/2"]);
  });

  it("the report of a drain has the order of the turns", async () => {
    const queue = queueOf();
    for (const key of ["a/1", "a/2", "a/3", "b/1"]) queue.add(key);
    queue.add("a/3", { priority: 1 });
    const { queued } = await queue.drain({ timeout: 0 });
    expect(queued).toEqual(["a/3", "b/1", "a/1", "a/2"]);
    expect(drained(queue)).toEqual(queued);
  });

  it("the group of a key is asked once while the key is known", async () => {
    const clock = new FakeClock();
    const asked: string[] = [];
    const fairBy = (key: string): string => {
      asked.push(key);
      return `${asked.length}`; // not a function of the key, which must not break the queue
    };
    const queue = new WorkQueue({ clock, fairBy });
    queue.add("a");
    queue.add("a", { priority: 1 });
    queue.add("b", { after: 10 });
    const work = queue.take();
    queue.add("a", { after: 5 });
    work?.done();
    await clock.step(10);
    expect(drained(queue)).toEqual(["a", "b"]);
    expect(asked).toEqual(["a", "b"]);
  });

  it.each<[string, (queue: WorkQueue, work: WorkItem<string> | undefined) => void]>([
    ["its work is done", (_, work) => work?.done()],
    ["its delay is cancelled", (queue) => queue.cancel("x")],
  ])("a key moves to another group once %s", (door, end) => {
    let group = "a";
    const queue = new WorkQueue({ fairBy: (key) => (key === "x" ? group : "a") });
    queue.add("x", door === "its delay is cancelled" ? { after: 10 } : {});
    const work = queue.take();
    for (const key of ["a1", "a2"]) queue.add(key);
    end(queue, work);
    group = "b";
    queue.add("x");
    expect(drained(queue)).toEqual(["a1", "x", "a2"]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("no tenant");
      },
      "Error: no tenant",
    ],
    [
      "returns a number",
      () => 7,
      "TypeError: the group that options.fairBy returns must be a string, got 7",
    ],
  ])(
    "an error of fairBy that %s comes from the add, and leaves the queue as it was",
    (_, fairBy, error) => {
      let isBad = true;
      const queue = new WorkQueue({ fairBy: (key) => (isBad ? (fairBy() as never) : key) });
      for (const options of [undefined, { after: 10 }])
        expect(() => queue.add("a", options)).toThrow(error.split(": ").slice(1).join(": "));
      expect([queue.size, queue.delayed]).toEqual([0, 0]);
      isBad = false;
      queue.add("a");
      expect(drained(queue)).toEqual(["a"]);
    },
  );

  it("groups that come and go leave nothing behind", () => {
    const queue = new WorkQueue({ fairBy: (key) => key });
    const before: string[] = [];
    for (let round = 0; round < 3; round++) {
      for (let key = 0; key < 5_000; key++) queue.add(`${round} ${key}`);
      before.push(...drained(queue));
    }
    expect(new Set(before).size).toBe(15_000);
  });

  it("as a model does, whatever is added and taken", () => {
    const random = seededRandom(inject("seed"));
    for (let history = 0; history < 200; history++) {
      const queue = queueOf();
      /** Waiting keys of each group in their order, the group first whose turn is next. */
      const model: { readonly tenant: string; readonly keys: string[] }[] = [];
      for (let step = 0; step < 100; step++) {
        if (random() < 0.6) {
          const key = `${"abcd"[Math.floor(random() * 4)]}/${Math.floor(random() * 8)}`;
          queue.add(key);
          const group = model.find(({ tenant }) => tenant === tenantOf(key));
          if (group === undefined) model.push({ tenant: tenantOf(key), keys: [key] });
          else if (!group.keys.includes(key)) group.keys.push(key);
        } else {
          const work = queue.take();
          const group = model.shift();
          expect(work?.key).toBe(group?.keys.shift());
          if (group !== undefined && group.keys.length > 0) model.push(group);
          work?.done();
        }
        expect(queue.size).toBe(model.reduce((sum, { keys }) => sum + keys.length, 0));
      }
    }
  });
});

describe("a noisy tenant", () => {
  const NEIGHBORS = 10;

  /** How long the keys of the neighbors wait, at most. */
  async function longestWait(noise: number, fairBy?: (key: string) => string): Promise<number> {
    const clock = new FakeClock();
    const start = clock.monotonic();
    let longest = 0;
    const controller = new Controller({
      ...{ name: "tenants", clock, logger: silentLogger, workers: 4, fairBy },
      reconcile: async ({ key }) => {
        await clock.sleep(10);
        if (!key.startsWith("noisy")) longest = Math.max(longest, clock.monotonic() - start);
      },
    });
    const stop = new AbortController();
    const running = controller.run(stop.signal);
    for (let key = 0; key < noise; key++) controller.add(`noisy/${key}`);
    for (let key = 0; key < 20; key++)
      for (let tenant = 0; tenant < NEIGHBORS; tenant++) controller.add(`${tenant}/${key}`);
    await clock.run(() => controller.idle());
    stop.abort();
    await running;
    return longest;
  }

  it("costs its neighbors at most a fifth of their time", async () => {
    const alone = await longestWait(0);
    expect(await longestWait(5_000)).toBeGreaterThan(10 * alone);
    expect(await longestWait(5_000, tenantOf)).toBeLessThanOrEqual(1.2 * alone);
    expect(await longestWait(0, tenantOf)).toBe(alone);
  });
});
