import fc from "fast-check";
import { expect, it } from "vitest";
import { type QueueItem, queueItem } from "../../src/queue/queue-item.ts";
import { ReadyItems } from "../../src/queue/ready-items.ts";

const operation = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("push" as const), times: fc.nat(60) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("pop" as const), times: fc.nat(60) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("raise" as const), times: fc.nat(40) }) },
);

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
            const item = queueItem<string>();
            item.key = `${count++}`;
            ready.push(item, 0);
            plain.push(item);
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
