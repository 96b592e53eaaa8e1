import { describe, expect, test } from "vitest";
import { differenceOf } from "../../src/fast-check/difference.ts";
import type { JsonObject } from "../../src/object/json.ts";
import { type NormalForm, normalForm } from "../../src/server/normal-form.ts";

const START = Date.parse("2026-01-01T00:00:00Z");

type Objects = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

const snapshotOf = (stores: Objects) => ({
  version: 9,
  stores: new Map(
    Object.entries(stores).map(([store, objects]) => [store, new Map(Object.entries(objects))]),
  ),
});

const formOf = (stores: Objects, normalise?: (object: JsonObject) => JsonObject | undefined) =>
  normalForm(snapshotOf(stores), { start: START, normalise });

const map = (metadata: object, more: object = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { uid: "uid-1", resourceVersion: "3", ...metadata },
  ...more,
});

const sides = { left: "here", right: "there" };
const compare = (left: NormalForm, right: NormalForm) => differenceOf(left, right, sides);

describe("two runs are the same", () => {
  const same = (left: Objects, right: Objects) =>
    expect(compare(formOf(left), formOf(right))).toEqual([]);
  const maps = (objects: Readonly<Record<string, JsonObject>>) => ({ "/configmaps": objects });

  test("whatever the server counts, draws and dates", () => {
    const made = (uid: string, generation: number, time: string) =>
      maps({
        "default/a": map(
          { uid, generation, creationTimestamp: time, managedFields: [], name: "a" },
          { data: { since: `since ${time}`, me: uid } },
        ),
      });
    same(made("u-1", 1, "2026-01-01T00:00:05Z"), made("u-2", 4, "2026-01-01T01:00:00.123Z"));
  });

  test("whatever names are generated, and in which order", () => {
    const made = (one: string, other: string) =>
      maps({
        [`default/${one}`]: map({ uid: "1", name: one, generateName: "x-" }, { data: { n: "1" } }),
        [`default/${other}`]: map(
          { uid: "2", name: other, generateName: "x-" },
          { data: { n: "2" } },
        ),
        "default/list": map({ uid: "3", name: "list" }, { data: { [one]: `${one} exists` } }),
      });
    same(made("x-aaaaa", "x-bbbbb"), made("x-ccccc", "x-bbbba"));
  });

  test("however many generations there were, if the status is up to date", () => {
    const made = (generation: number, observed: number) =>
      maps({
        "default/a": map(
          { generation },
          { status: { conditions: [{ type: "Ready", observedGeneration: observed }] } },
        ),
      });
    same(made(1, 1), made(3, 3));
    expect(compare(formOf(made(1, 1)), formOf(made(3, 2)))).toEqual([
      "configmaps default/a",
      '  status.conditions[0].observedGeneration: "<current>" here, "<1 behind>" there',
    ]);
  });

  test("in whatever order conditions, owners and finalizers are", () => {
    const made = (...types: string[]) =>
      maps({
        "default/a": map(
          { finalizers: types, ownerReferences: types.map((name) => ({ name })) },
          { status: { conditions: types.map((type) => ({ type })) } },
        ),
      });
    same(made("a", "b"), made("b", "a"));
  });

  test("whatever Events there are", () => {
    same({ "events.k8s.io/events": { "default/a": map({}) } }, { "/events": {} });
  });
});

describe("a difference shows", () => {
  const differing = (left: object, right: object) =>
    compare(
      formOf({ "apps/deployments": { "default/a": map({}, left) } }),
      formOf({ "apps/deployments": { "default/a": map({}, right) } }),
    );

  test("objects that only one run has", () => {
    const one = formOf({ "/configmaps": { "default/a": map({}) } });
    const object = '  {"apiVersion":"v1","kind":"ConfigMap","metadata":{}}';
    expect(compare(one, formOf({}))).toEqual(["configmaps default/a: only here", object]);
    expect(compare(formOf({}), one)).toEqual(["configmaps default/a: only there", object]);
  });

  test("each field with both values, at any depth", () => {
    expect(differing({ a: { b: [1, { c: 2 }] } }, { a: { b: [1, { c: 3 }, 4] } })).toEqual([
      "deployments.apps default/a",
      "  a.b[1].c: 2 here, 3 there",
      "  a.b[2]: absent here, 4 there",
    ]);
    expect(differing({ a: { b: 1 } }, { a: [1] })).toEqual([
      "deployments.apps default/a",
      '  a: {"b":1} here, [1] there',
    ]);
  });

  test("long values by their start", () => {
    const [, line] = differing({ a: "x".repeat(300) }, {});
    expect(line).toBe(`  a: "${"x".repeat(199)}… here, absent there`);
  });

  test("times before the run, and the uid of no object", () => {
    expect(differing({ a: "2025-01-01T00:00:00Z" }, { a: "2025-01-02T00:00:00Z" })).toHaveLength(2);
    expect(differing({ a: "uid-1" }, { a: "uid-2" })).toEqual([
      "deployments.apps default/a",
      '  a: "<uid of deployments.apps default/a>" here, "uid-2" there',
    ]);
  });

  test("nothing of what the user changes or leaves out", () => {
    const stores = {
      "/configmaps": { "default/a": map({}, { data: { a: "1" } }), "default/b": map({}) },
    };
    const form = formOf(stores, (object) =>
      object["data"] === undefined ? undefined : { ...object, data: {} },
    );
    expect([...form]).toEqual([
      ["configmaps default/a", { apiVersion: "v1", data: {}, kind: "ConfigMap", metadata: {} }],
    ]);
    expect(stores["/configmaps"]["default/a"]["data"]).toEqual({ a: "1" });
  });
});
