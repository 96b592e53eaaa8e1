import { Outbox } from "@holdfast/outbox";
import { MemoryStore } from "@holdfast/outbox/testing";
import { expect, it } from "vitest";

const store = new MemoryStore();
const outbox = new Outbox({ store, transaction: (work) => store.transaction(work) });
const message = { topic: "orders.paid", key: "order/4711", payload: {} };
const save = (facts: object) =>
  outbox.transaction((tx) => outbox.save(tx, { ...message, ...facts } as never));

it.each([
  [{ after: 1_000 }, "TypeError: message.after is not an option of save"],
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
  [
    { payload: { total: Object(Number.NaN) } },
    'RangeError: message.payload must be a JSON value, its field "total" is NaN',
  ],
  [
    { payload: { order: Promise.resolve(1) } },
    'RangeError: message.payload must be a JSON value, its field "order" is a Promise: await it',
  ],
  [
    { payload: new Map([["a", 1]]) },
    "RangeError: message.payload must be a JSON value, got a value of type Map",
  ],
  [
    { payload: { seen: new Set([1]) } },
    'RangeError: message.payload must be a JSON value, its field "seen" is a value of type Set',
  ],
  [
    { payload: { cause: Object.assign(new Error("lost"), { code: 1 }) } },
    'RangeError: message.payload must be a JSON value, its field "cause" is a value of type Error',
  ],
  [
    { payload: [undefined] },
    'RangeError: message.payload must be a JSON value, its field "0" is undefined',
  ],
  [
    { payload: [() => 1] },
    'RangeError: message.payload must be a JSON value, its field "0" is function',
  ],
])("refuses %j, which would change without a word", async (facts, error) => {
  const refusal: unknown = await save(facts).catch((caught: unknown) => caught);
  expect(String(refusal)).toContain(error);
  expect(await store.backlog()).toEqual({ pending: 0, retrying: 0, dead: 0 });
});

class Cancelled {
  readonly #secret = 1;
  get secret(): number {
    return this.#secret;
  }
}

it("saves what JSON has a form for, and leaves out members that are undefined", async () => {
  const payload = { a: undefined, at: new Date(0), boxed: Object(5), event: new Cancelled() };
  const saved = await save({ payload });
  expect(saved.payload).toEqual({ at: "1970-01-01T00:00:00.000Z", boxed: 5, event: {} });
});
