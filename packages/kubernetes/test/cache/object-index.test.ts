import type { CachedObject } from "@holdfast/kubernetes";
import { beforeEach, expect, it } from "vitest";
import { ObjectIndex } from "../../src/cache/object-index.ts";
import { greeting } from "./cache-kit.ts";

const ann = greeting("ann", 1) as CachedObject;
const bob = greeting("bob", 1) as CachedObject;

let index: ObjectIndex;

beforeEach(() => {
  index = new ObjectIndex("label", () => []);
  index.set("default/ann", ann, new Set(["a", "b"]));
  index.set("default/bob", bob, new Set(["b"]));
});

it("finds the objects under each of their values", () => {
  expect([index.by("a"), index.by("b"), index.by("c")]).toEqual([[ann], [ann, bob], []]);
});

it("keeps the other objects of a value when one is deleted", () => {
  index.delete("default/ann");
  expect([index.by("a"), index.by("b")]).toEqual([[], [bob]]);
});

it("moves an object to its new values", () => {
  index.set("default/ann", ann, new Set(["c"]));
  expect([index.by("a"), index.by("b"), index.by("c")]).toEqual([[], [bob], [ann]]);
});

it("ignores the deletion of an object that it does not have", () => {
  index.delete("default/eve");
  expect(index.by("b")).toEqual([ann, bob]);
});

it("computes each value once", () => {
  const twice = new ObjectIndex("label", () => ["a", "a", "b"]);
  expect(twice.compute(ann)).toEqual(new Set(["a", "b"]));
});

it.each([["a"], [["a", 1]], [undefined], [[null]]])("refuses the values %j", (values) => {
  const wrong = new ObjectIndex("label", () => values as never);
  expect(() => wrong.compute(ann)).toThrow(
    new TypeError('options.indexes["label"] must return an array of strings'),
  );
});
