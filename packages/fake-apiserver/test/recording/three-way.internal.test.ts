import { expect, it } from "vitest";
import { rebased } from "../../src/recording/three-way.ts";

/** A condition of a type. */
const is = (type: string, status: string) => ({ type, status });

it.for<readonly [string, before: unknown, after: unknown, current: unknown, expected: unknown]>([
  ["keeps what only the program changed", "a", "a", "b", "b"],
  ["takes what only others changed", "a", "b", "a", "b"],
  ["takes the change of others of what both changed", "a", "b", "c", "b"],
  ["merges fields", { a: 1, b: 1 }, { a: 2, b: 1 }, { a: 1, b: 3 }, { a: 2, b: 3 }],
  ["removes a field", { a: 1, b: 1 }, { a: 1 }, { a: 2, b: 1 }, { a: 2 }],
  ["adds below a new field of both", undefined, { a: 1 }, { b: 1 }, { b: 1, a: 1 }],
  [
    "merges items of a list by their type",
    [is("A", "x"), is("B", "x")],
    [is("A", "y"), is("B", "x")],
    [is("A", "x"), is("B", "z"), is("C", "x")],
    [is("A", "y"), is("B", "z"), is("C", "x")],
  ],
  ["takes a list without keys whole", ["a"], ["b"], ["c"], ["b"]],
  [
    "takes a list with equal keys whole",
    [is("A", "x")],
    [is("A", "y"), is("A", "z")],
    [],
    [is("A", "y"), is("A", "z")],
  ],
])("%s", ([, before, after, current, expected]) => {
  const object = (value: unknown) => ({
    metadata: { name: "a" },
    ...(value !== undefined && { value }),
  });
  expect(rebased(object(before), object(after), object(current))).toEqual(object(expected));
});

it("keeps the identity of the object, and counts the generations of others", () => {
  const object = (uid: string, generation: number, label: string) => ({
    metadata: { uid, generation, creationTimestamp: uid, labels: { label } },
  });
  expect(rebased(object("a", 3, "x"), object("a", 5, "y"), object("b", 1, "x"))).toEqual(
    object("b", 3, "y"),
  );
});
