import { Outbox } from "@holdfast/outbox";
import { MemoryStore } from "@holdfast/outbox/testing";
import { expect, it } from "vitest";

const store = new MemoryStore();
const outbox = new Outbox({ store, transaction: (work) => store.transaction(work) });
const message = { topic: "orders.paid", key: "order/4711", payload: {} };
const save = (facts: object) =>
  outbox.transaction((tx) => outbox.save(tx, { ...message, ...facts } as never));

it.each([
  [{ delay: 1_000 }, "TypeError: message.delay is not an option of save"],
  [{ dueAt: 1_000 }, "TypeError: message.dueAt is not an option of save"],
  [{ priority: 1 }, "TypeError: message.priority is not an option of save"],
  [
    { payload: { a: [Number.NaN] } },
    'RangeError: message.payload must be a JSON value, its field "0" is NaN',
  ],
  [
    { payload: { total: 1 / 0 } },
    'RangeError: message.payload must be a JSON value, its field "total" is Infinity',
  ],
  [
    { payload: { at: new Date("never") } },
    'RangeError: message.payload must be a JSON value, its field "at" is an invalid Date',
  ],
  [{ payload: Number.NaN }, "RangeError: message.payload must be a JSON value, got NaN"],
])("refuses %j, which would change without a word", async (facts, error) => {
  const refusal: unknown = await save(facts).catch((caught: unknown) => caught);
  expect(String(refusal)).toContain(error);
  expect(await store.backlog()).toEqual({ pending: 0, retrying: 0, dead: 0 });
});
