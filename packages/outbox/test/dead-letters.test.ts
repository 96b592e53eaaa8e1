import { FakeClock } from "@holdfast/clock/testing";
import { Outbox } from "@holdfast/outbox";
import type { DeadLetterSelection } from "@holdfast/outbox/store";
import { MemoryStore } from "@holdfast/outbox/testing";
import { describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import { fail } from "./outcomes.ts";
import { idOf, numberOf, sample } from "./sample.ts";

/** An outbox with dead letters 1 to `count`; the odd ones of the topic "odd". */
async function setUp(count: number) {
  const clock = new FakeClock();
  const store = new MemoryStore();
  const onCommitted = vi.fn();
  const { deadLetters } = new Outbox({ store, onCommitted, clock });
  await store.transaction(async (tx) => {
    for (let i = 1; i <= count; i++)
      await store.save(tx, sample(i, { topic: i % 2 === 1 ? "odd" : "even" }), clock.now());
  });
  const now = clock.now();
  const { claims } = await store.claim({ relay: "a", now, until: now + 1, limit: count });
  for (const claim of claims) {
    const at = now + numberOf(claim.message.id);
    await fail(store, claim, { now: at, error: "gone", dueAt: undefined });
  }
  const numbers = async (options = {}): Promise<number[]> =>
    (await deadLetters.list(options)).map(({ id }) => numberOf(id));
  return { clock, store, onCommitted, deadLetters, numbers };
}

describe("deadLetters", () => {
  it("lists 100 by default, and page by page from the last one", async () => {
    const { deadLetters, numbers } = await setUp(103);
    const first = await deadLetters.list();
    expect(first).toHaveLength(100);
    expect(await numbers({ after: first.at(-1) })).toEqual([101, 102, 103]);
    expect(await numbers({ topic: "odd", limit: 2 })).toEqual([1, 3]);
  });

  it("replays at the instant of its clock, and wakes the relay", async () => {
    const { clock, store, onCommitted, deadLetters } = await setUp(3);
    await clock.step(5_000);
    expect(await deadLetters.replay({ ids: [idOf(2).toUpperCase()] })).toBe(1);
    expect(await store.find(idOf(2))).toMatchObject({ status: "pending", dueAt: clock.now() });
    expect(onCommitted).toHaveBeenCalledOnce();
    expect(await deadLetters.replay({ topic: "even" })).toBe(0);
    expect(onCommitted).toHaveBeenCalledOnce();
    expect(await deadLetters.replay("all")).toBe(2);
    expect(onCommitted).toHaveBeenCalledTimes(2);
  });

  it("discards for good, and wakes nobody", async () => {
    const { onCommitted, deadLetters, numbers } = await setUp(4);
    expect(await deadLetters.discard({ topic: "odd" })).toBe(2);
    expect(await numbers()).toEqual([2, 4]);
    expect(await deadLetters.discard("all")).toBe(2);
    expect(await numbers()).toEqual([]);
    expect(onCommitted).not.toHaveBeenCalled();
  });

  describe.each(["replay", "discard"] as const)("%s", (door) => {
    it("works in portions of 100 and tells how many it has changed", async () => {
      const { clock, store, deadLetters } = await setUp(250);
      await clock.step(5_000);
      const sizes: number[] = [];
      const change: typeof store.replay = store[door].bind(store);
      store[door] = async (selection: DeadLetterSelection, now?: number) => {
        sizes.push(await change(selection, now ?? 0));
        return sizes.at(-1) ?? 0;
      };
      const told: number[] = [];
      const onProgress = (count: number): void => {
        told.push(count);
        throw new Error("of the caller");
      };
      expect(await deadLetters[door]("all", { onProgress })).toBe(250);
      expect([sizes, told]).toEqual([
        [100, 100, 50],
        [100, 200, 250],
      ]);
    });

    it.each<[DeadLetterSelection, object, number[]]>([
      ["all", { portion: 4 }, [4, 8, 10]],
      ["all", { portion: 5 }, [5, 10]],
      ["all", { portion: 4, limit: 6 }, [4, 6]],
      [{ topic: "odd" }, { portion: 2 }, [2, 4, 5]],
      [{ ids: [1, 2, 3].map(idOf) }, { portion: 2 }, [2, 3]],
      [{ ids: [1, 2, 3].map(idOf) }, { portion: 2, limit: 1 }, [1]],
      [{ ids: [] }, {}, []],
    ])("changes %j with %j", async (selection, options, want) => {
      const { clock, deadLetters } = await setUp(10);
      await clock.step(5_000);
      const told: number[] = [];
      const all = { ...options, onProgress: (count: number) => told.push(count) };
      expect(await deadLetters[door](selection, all)).toBe(want.at(-1) ?? 0);
      expect(told).toEqual(want);
    });

    it("stops between portions on abort, and keeps what it has changed", async () => {
      const { clock, deadLetters, numbers } = await setUp(10);
      await clock.step(5_000);
      const stop = new AbortController();
      const reason = new Error("enough");
      const options = { portion: 4, signal: stop.signal, onProgress: () => stop.abort(reason) };
      await expect(deadLetters[door]("all", options)).rejects.toBe(reason);
      expect(await numbers()).toEqual([5, 6, 7, 8, 9, 10]);
      await expect(deadLetters[door]("all", options)).rejects.toBe(reason);
      expect(await numbers()).toHaveLength(6);
      expect(abortListeners(stop.signal)).toBe(0);
    });

    it("resolves if the abort comes with the last portion", async () => {
      const { deadLetters } = await setUp(3);
      const stop = new AbortController();
      const options = { signal: stop.signal, onProgress: () => stop.abort() };
      expect(await deadLetters[door]("all", options)).toBe(3);
    });
  });

  it("replays no letter again that dies while it works, and all that were dead before", async () => {
    const { clock, store, deadLetters } = await setUp(10);
    await clock.step(5);
    const replay = store.replay.bind(store);
    let replayed = 0;
    store.replay = async (selection, now) => {
      replayed += await replay(selection, now);
      if (replayed > 100) throw new Error("replayed for ever");
      const { claims } = await store.claim({ relay: "a", now, until: now + 1, limit: 10 });
      for (const claim of claims)
        await fail(store, claim, { now: now + 6, error: "", dueAt: undefined });
      return 10;
    };
    // The clock of their relay was ahead: those of the first portion count all the same.
    await deadLetters.replay("all", { portion: 7 });
    expect(replayed).toBe(7);
  });
});
