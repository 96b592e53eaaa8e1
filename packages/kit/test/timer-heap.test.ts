import { type HeapEntry, TimerHeap } from "@holdfast/kit";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { collectGarbage } from "../../../test/collect-garbage.ts";

interface Entry extends HeapEntry {
  readonly deadline: number;
  readonly order: number;
}

const byDeadlineThenOrder = (a: Entry, b: Entry): number =>
  a.deadline === b.deadline ? a.order - b.order : a.deadline < b.deadline ? -1 : 1;

const deadline = fc.oneof(
  fc.integer({ min: 0, max: 5 }),
  fc.double({ noNaN: true, min: -1e6, max: 1e6 }),
  fc.constant(Number.POSITIVE_INFINITY),
);

const operation = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("push" as const), deadline }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("pop" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), which: fc.nat() }) },
);

describe("a TimerHeap", () => {
  it("behaves like a sorted array", () => {
    fc.assert(
      fc.property(
        fc.array(operation, { maxLength: 100, size: "max" }),
        fc.func(fc.integer()),
        (operations, orderOf) => {
          const heap = new TimerHeap<Entry>();
          const sorted: Entry[] = [];
          for (const [index, op] of operations.entries()) {
            if (op.kind === "push") {
              // Distinct, as the heap's owner promises, and in any order.
              const order = orderOf(index) * 256 + index;
              const entry: Entry = { heapSlot: -1, deadline: op.deadline, order };
              heap.push(entry, entry.deadline, entry.order);
              sorted.push(entry);
              sorted.sort(byDeadlineThenOrder);
            } else if (sorted.length === 0) {
              // Nothing can leave.
            } else if (op.kind === "pop") {
              expect(heap.pop()).toBe(sorted.shift());
            } else {
              const [entry] = sorted.splice(op.which % sorted.length, 1) as [Entry];
              heap.remove(entry);
            }
            expect(heap.size).toBe(sorted.length);
            expect(heap.deadline).toBe(sorted[0]?.deadline ?? Number.POSITIVE_INFINITY);
          }
          expect(heap.sorted()).toEqual(sorted);
          expect(heap.sorted()).toEqual(sorted);
          for (const entry of sorted) expect(heap.deadlineOf(entry)).toBe(entry.deadline);
          for (const entry of sorted) expect(heap.pop()).toBe(entry);
          expect(heap.size).toBe(0);
        },
      ),
    );
  });

  it("pops entries in order after growing, whatever the order of the pushes", () => {
    fc.assert(
      fc.property(
        fc.array(deadline, { minLength: 500, maxLength: 1500, size: "max" }),
        (deadlines) => {
          const heap = new TimerHeap<Entry>();
          const entries = deadlines.map((deadline, order) => ({ heapSlot: -1, deadline, order }));
          for (const entry of entries) heap.push(entry, entry.deadline, entry.order);
          const leave = entries.filter((_, index) => index % 3 === 0);
          for (const entry of leave) heap.remove(entry);
          const stay = entries.filter((_, index) => index % 3 !== 0).sort(byDeadlineThenOrder);
          expect(stay.map(() => heap.pop())).toEqual(stay);
          expect(heap.size).toBe(0);
        },
      ),
      { numRuns: 10 },
    );
  });

  it("keeps no reference to a removed entry", () => {
    const heap = new TimerHeap<Entry>();
    const entry: Entry = { heapSlot: -1, deadline: 1, order: 0 };
    heap.push(entry, 1, 0);
    heap.remove(entry);
    expect([heap.size, heap.sorted(), heap.deadline]).toEqual([0, [], Number.POSITIVE_INFINITY]);
  });

  it("releases the memory of a peak when it is empty", async () => {
    const heap = new TimerHeap<Entry>();
    const inBuffers = async (): Promise<number> => {
      await collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const count = 100_000;
    for (let order = 0; order < count; order++)
      heap.push({ heapSlot: -1, deadline: order, order }, order, order);
    const peak = await inBuffers();
    while (heap.size > 0) heap.pop();
    // Two arrays of eight bytes, and two of four.
    await expect.poll(async () => peak - (await inBuffers())).toBeGreaterThanOrEqual(count * 24);
    expect(heap.deadline).toBe(Number.POSITIVE_INFINITY);
  });
});
