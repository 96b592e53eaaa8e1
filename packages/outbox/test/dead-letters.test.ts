import { FakeClock } from "@holdfast/clock/testing";
import { Outbox } from "@holdfast/outbox";
import { MemoryStore } from "@holdfast/outbox/testing";
import { describe, expect, it, vi } from "vitest";
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
});
