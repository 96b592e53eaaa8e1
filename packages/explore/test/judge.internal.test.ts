import { expect, it } from "vitest";
import { isAsLate, type Reference, type WorldEnd } from "../src/judge.ts";

/** The end of a world that nothing is wrong with. */
const endOf = (state: unknown): Reference =>
  ({
    ...{ state, counts: new Map(), journal: {}, lateFrom: 10 },
    masks: { time: undefined, seed: undefined },
  }) as unknown as Reference;

const of = (name: string) => ({ data: { name } });
const list = ["a", "b"];

it.each<[string, object, object, boolean]>([
  ["a number of edits is lower", { edits: 3 }, { edits: 2 }, true],
  ["a number of edits is lower as text", { map: { edits: "10" } }, { map: { edits: "9" } }, true],
  ["names have lower numbers", { r2: of("b"), r3: of("c") }, { r1: of("a"), r2: of("c") }, true],
  ["the name with the last number is missing", { r1: of("a"), r2: of("b") }, { r1: of("b") }, true],
  ["a number beside a list", { edits: 2, list: [1, 2] }, { edits: 1, list: [2] }, true],
  ["other names, and a number", { b: of("b"), c: { n: 3 } }, { a: of("a"), c: { n: 2 } }, true],
  ["the items of a list", { list }, { list: ["b"] }, true],
  ["the items of a text", { list: "a,b" }, { list: "b" }, true],
  ["a whole object is missing", { a: of("a"), b: of("b") }, { b: of("b") }, true],
  ["a number is higher", { edits: 2 }, { edits: 3 }, false],
  ["a name has a higher number", { r1: of("a") }, { r2: of("a") }, false],
  ["a value is another", { name: "a" }, { name: "b" }, false],
  ["a text of several lines", { text: "a,1\nb" }, { text: "a,2\nb" }, false],
  ["another name, and no number", { a: of("a") }, { b: of("b") }, false],
  ["something is left over", { edits: 3 }, { edits: 2, old: of("a") }, false],
  ["a revision is left over", { r3: of("c") }, { r1: of("a"), r2: of("c") }, false],
  ["an item is left over", { edits: 2, list: [1, 2] }, { edits: 1, list: [1, 2, 3], a: "" }, false],
  ["a field is missing", { map: { a: "a", edits: 3 } }, { map: { edits: 2 } }, false],
])(
  "a healthy run that has seen fewer edits excuses a difference: %s",
  (_, most, late, isExcused) => {
    const [goal, end] = [endOf(most), endOf(late)];
    expect(isAsLate(end, end, goal, "wholes")).toBe(isExcused);
  },
);

it("excuses no lower number that the healthy run does not have, or of a program that answers no edit", () => {
  const [goal, end, late]: [Reference, WorldEnd, WorldEnd] = [
    endOf({ edits: 3 }),
    endOf({ edits: 1 }),
    endOf({ edits: 2 }),
  ];
  expect(isAsLate(end, late, goal, "wholes")).toBe(false);
  const lateFrom = Number.POSITIVE_INFINITY;
  expect(isAsLate(late, late, { ...goal, lateFrom }, "wholes")).toBe(false);
});
