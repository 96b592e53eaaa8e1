import { FakeClock } from "@holdfast/clock/testing";
import { describe, expect, it } from "vitest";
import { Batch } from "../../src/relay/outcomes.ts";

function setUp(run?: (items: readonly string[]) => Promise<readonly string[]>) {
  const clock = new FakeClock();
  const runs: [number, readonly string[]][] = [];
  const start = clock.monotonic();
  const batch = new Batch<string, string>({
    clock,
    delay: 5,
    limit: 3,
    run: async (items) => {
      runs.push([clock.monotonic() - start, items]);
      return await (run?.(items) ?? items.map((item) => `${item}!`));
    },
  });
  return { clock, runs, batch };
}

describe("Batch", () => {
  it("runs the calls of 5 ms together, each with its own result", async () => {
    const { clock, runs, batch } = setUp();
    const first = batch.call("a");
    await clock.step(4);
    const second = batch.call("b");
    expect(runs).toEqual([]);
    await clock.step(1);
    expect(await Promise.all([first, second])).toEqual(["a!", "b!"]);
    const third = batch.call("c");
    await clock.step(5);
    expect(await third).toBe("c!");
    expect(runs).toEqual([
      [5, ["a", "b"]],
      [10, ["c"]],
    ]);
  });

  it("runs a full batch at once, and leaves no timer", async () => {
    const { clock, runs, batch } = setUp();
    expect(await Promise.all(["a", "b", "c"].map((item) => batch.call(item)))).toEqual([
      "a!",
      "b!",
      "c!",
    ]);
    expect(runs).toEqual([[0, ["a", "b", "c"]]]);
    expect(clock.waiters()).toBe(0);
  });

  it("runs at once when flushed, and nothing without calls", async () => {
    const { clock, runs, batch } = setUp();
    batch.flush();
    const call = batch.call("a");
    batch.flush();
    expect(await call).toBe("a!");
    expect(runs).toEqual([[0, ["a"]]]);
    expect(clock.waiters()).toBe(0);
  });

  it("does not block a call behind a run that hangs", async () => {
    const { batch } = setUp(async (items) =>
      items.includes("hangs") ? await new Promise(() => {}) : items,
    );
    void batch.call("hangs");
    batch.flush();
    const call = batch.call("continues");
    batch.flush();
    expect(await call).toBe("continues");
  });

  it("rejects the calls of a run that fails, and no others", async () => {
    const { batch } = setUp(async (items) => {
      if (items.includes("bad")) throw new Error(`${items.length} failed`);
      return items;
    });
    const calls = ["bad", "good"].map((item) => batch.call(item));
    batch.flush();
    expect(await Promise.allSettled(calls)).toMatchObject([
      { status: "rejected", reason: new Error("2 failed") },
      { status: "rejected", reason: new Error("2 failed") },
    ]);
    const call = batch.call("good");
    batch.flush();
    expect(await call).toBe("good");
  });
});
