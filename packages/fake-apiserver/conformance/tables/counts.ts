import { created, type Table } from "./table.ts";

const TEXT = { type: "string" };
const THREE = { a: TEXT, b: TEXT, c: TEXT };

/** Limits of objects, lists, texts and numbers, and the causes that name them. */
export const counts: Table = {
  kind: "Count",
  spec: {
    type: "object",
    properties: {
      named: { type: "object", minProperties: 1, maxProperties: 2, properties: THREE },
      map: { type: "object", maxProperties: 1, additionalProperties: TEXT },
      open: { type: "object", minProperties: 2, "x-kubernetes-preserve-unknown-fields": true },
      either: {
        type: "object",
        properties: THREE,
        oneOf: [{ maxProperties: 1 }, { minProperties: 3 }],
      },
      list: { type: "array", minItems: 1, maxItems: 1, items: TEXT },
      text: { type: "string", minLength: 3, maxLength: 5, pattern: "^a+$" },
      whole: { type: "integer", format: "int32", minimum: 5, multipleOf: 5 },
      plain: { type: "integer" },
      long: { type: "integer", format: "int64" },
      number: { type: "number", maximum: 2.5, exclusiveMaximum: true },
      choice: { type: "string", enum: ["a", "b"], minLength: 3 },
      set: { type: "array", items: TEXT, "x-kubernetes-list-type": "set" },
    },
  },
  cases: created({
    "an object has too few fields": { named: {} },
    "an object has enough fields": { named: { a: "1" } },
    "an object has too many fields": { named: { a: "1", b: "1", c: "1" } },
    "an unknown field does not count": { named: { x: "1" } },
    "a map has one entry": { map: { x: "1" } },
    "a map has two entries, and one is allowed": { map: { x: "1", y: "2" } },
    "an open object counts fields without a schema": { open: { x: 1 } },
    "an open object has enough fields": { open: { x: 1, y: 2 } },
    "counts choose a member of oneOf": { either: { a: "1" } },
    "counts choose no member of oneOf": { either: { a: "1", b: "1" } },
    "counts choose the other member of oneOf": { either: { a: "1", b: "1", c: "1" } },
    "a list is too short": { list: [] },
    "a list is too long": { list: ["1", "2"] },
    "a short text is named once": { text: "b" },
    "a long text is named once": { text: "bbbbbbb" },
    "a text is against its pattern alone": { text: "bbbb" },
    "an integer of 32 bits has a fraction": { whole: 5.5 },
    "an integer of 32 bits is too large": { whole: 2_147_483_650 },
    "an integer of 32 bits is far too large": { whole: 1e20 },
    "an integer is against two limits": { whole: 1 },
    "an integer is a text": { whole: "5" },
    "an integer without a format has a fraction": { plain: 1.5 },
    "an integer of 64 bits has a fraction": { long: 1.5 },
    "an integer is written as 5.0": { whole: 5.0 },
    "a number equals an excluded limit": { number: 2.5 },
    "a number is below an excluded limit": { number: 2.4 },
    "a choice is against enum and length": { choice: "c" },
    "a set has a value three times": { set: ["a", "a", "a"] },
    "a set has two values twice": { set: ["a", "b", "a", "b"] },
  }),
};
