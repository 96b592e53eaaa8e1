import { expect, test } from "vitest";
import { differences } from "../../conformance/compare.ts";

test.each([
  ["equal values", { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
  ["another value", [{ status: 200 }], [{ status: 201 }], ["0.status: recorded 200, given 201"]],
  ["a missing field", { a: 1, b: 2 }, { a: 1 }, ["b: recorded 2, given nothing"]],
  ["a further field", { a: 1 }, { a: 1, b: null }, ["b: recorded nothing, given null"]],
  ["a shorter list", { a: [1, 2] }, { a: [1] }, ["a.1: recorded 2, given nothing"]],
  ["a list in place of an object", { a: {} }, { a: [] }, ["a: recorded {}, given []"]],
  ["null in place of an object", { a: {} }, { a: null }, ["a: recorded {}, given null"]],
  ["a value in place of all", "x", ["x"], ['all: recorded "x", given ["x"]']],
  [
    "each difference",
    { a: 1, b: { c: 2 } },
    { a: 3, b: { c: 4 } },
    ["a: recorded 1, given 3", "b.c: recorded 2, given 4"],
  ],
  [
    "a name that every object inherits",
    {},
    { toString: "x" },
    ['toString: recorded nothing, given "x"'],
  ],
])("differences finds %s", (_, recorded, given, expected) => {
  expect(differences(recorded, given)).toEqual(expected);
});

test("differences leaves out uncompared fields with all below them", () => {
  const recorded = [{ body: { spec: { x: 1 }, name: "a" } }, { body: { spec: { x: 1 } } }];
  const given = [{ body: { name: "b" } }, { body: { spec: { x: 2 } } }];
  const everywhere = [{ path: "*.body.spec", reason: "test", on: "fake" as const }];
  expect(differences(recorded, given, everywhere)).toEqual([
    '0.body.name: recorded "a", given "b"',
  ]);
  const once = [{ path: "1.body.spec.x", reason: "test" }];
  expect(differences(recorded, given, once)).toEqual([
    '0.body.spec: recorded {"x":1}, given nothing',
    '0.body.name: recorded "a", given "b"',
  ]);
});

test("differences shortens long values", () => {
  const [line] = differences({ text: "x".repeat(1_000) }, {});
  expect(line).toBe(`text: recorded "${"x".repeat(199)}…, given nothing`);
});
