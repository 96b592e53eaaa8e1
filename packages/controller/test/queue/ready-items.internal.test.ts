import fc from "fast-check";
import { expect, it } from "vitest";
import { type QueueItem, queueItem } from "../../src/queue/item-state.ts";
import { ReadyItems } from "../../src/queue/ready-items.ts";

const operation = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("push" as const), times: fc.nat(60) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("pop" as const), times: fc.nat(60) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("late" as const), times: fc.nat(20) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("raise" as const), times: fc.nat(40) }) },
);

function queued(key: string, arrival: number): QueueItem<string> {
  return Object.assign(queueItem(key, key), { arrival, since: 0 });
}

it("keeps its order through gaps, growing and shrinking", () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 60, size: "max" }), (operations) => {
      const ready = new ReadyItems<string>(Number.POSITIVE_INFINITY);
      const plain: QueueItem<string>[] = [];
      const high: QueueItem<string>[] = [];
      const got: unknown[] = [];
      const want: unknown[] = [];
      let count = 0;
      for (const { kind, times } of operations) {
        for (let i = 0; i < times; i++) {
          if (kind === "push") {
            const item = queued(`${count++}`, ready.arrive());
            ready.push(item);
            plain.push(item);
          } else if (kind === "late") {
            // Added while its key was in flight, and pushed after another.
            const late = queued(`${count++}`, ready.arrive());
            const next = queued(`${count++}`, ready.arrive());
            ready.push(next);
            ready.push(late);
            plain.push(late, next);
          } else if (kind === "pop") {
            got.push(ready.pop());
            want.push(high.shift() ?? plain.shift());
          } else if (plain.length > 0) {
            const [item] = plain.splice((i * 7) % plain.length, 1) as [QueueItem<string>];
            ready.raise(item, 1, 0);
            high.push(item);
          }
          got.push(ready.size);
          want.push(plain.length + high.length);
        }
      }
      expect(ready.keys()).toEqual([...high, ...plain].map(({ key }) => key));
      for (const item of [...high, ...plain, undefined]) {
        got.push(ready.pop());
        want.push(item);
      }
      expect(got).toEqual(want);
    }),
  );
});

it("drops the entries of raised items while the first of the line waits", () => {
  const ready = new ReadyItems<string>(Number.POSITIVE_INFINITY);
  ready.push(queued("first", ready.arrive()));
  const raised = queued("raised", 0);
  for (let i = 0; i < 5_000; i++) {
    Object.assign(raised, { arrival: ready.arrive(), priority: 0 });
    ready.push(raised);
    ready.raise(raised, 1, 0);
    expect(ready.size).toBe(2);
    expect(ready.pop()).toBe(raised);
  }
  expect(ready.keys()).toEqual(["first"]);
});

it("goes on in order after thousands of items have left", () => {
  const ready = new ReadyItems<string>(Number.POSITIVE_INFINITY);
  const keys = Array.from({ length: 5_000 }, (_, i) => `${i}`);
  for (const key of keys) ready.push(queued(key, ready.arrive()));
  const taken: string[] = [];
  for (let item = ready.pop(); item !== undefined; item = ready.pop()) {
    if (taken.length < 2_500) ready.push(queued(`again ${item.key}`, ready.arrive()));
    taken.push(item.key);
  }
  expect(taken).toEqual([...keys, ...keys.slice(0, 2_500).map((key) => `again ${key}`)]);
  expect(ready.size).toBe(0);
});
