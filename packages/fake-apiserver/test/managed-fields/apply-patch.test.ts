import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyPatch, type Owned, ownUpdate } from "../../src/managed-fields/apply-patch.ts";
import { FieldSet, formatPath } from "../../src/managed-fields/field-set.ts";
import { builtInRootType, schemaRootType } from "../../src/managed-fields/field-type.ts";
import { readManagers, writeManagers } from "../../src/managed-fields/managers.ts";
import { mergeTyped } from "../../src/managed-fields/merge-typed.ts";
import type { JsonObject } from "../../src/object/json.ts";

const list = (items: object, more: object): object => ({ type: "array", items, ...more });
const type = schemaRootType({
  type: "object",
  properties: {
    text: { type: "string" },
    map: { type: "object", additionalProperties: { type: "string" } },
    tags: list({ type: "string" }, { "x-kubernetes-list-type": "set" }),
    ports: list(
      { type: "object", properties: { name: {}, port: {}, protocol: { default: "TCP" } } },
      { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "protocol"] },
    ),
  },
});

type Writer = Parameters<typeof applyPatch>[2]["writer"];

const writer = (name: string): Writer => ({
  name,
  operation: "Apply",
  apiVersion: "v1",
  subresource: "",
  time: "2000-01-01T00:00:00Z",
});
const isOwnable = (): boolean => true;
const NOTHING: Owned = { object: {}, managers: [] };

function apply(live: Owned, name: string, object: JsonObject, force = false): Owned {
  return applyPatch(live, object, {
    type,
    typeAt: () => type,
    writer: writer(name),
    isOwnable,
    force,
  });
}

function ownedBy({ managers }: Owned, name: string): string[] {
  const found = managers.find((manager) => manager.name === name);
  return (found?.fields ?? new FieldSet()).paths().map(formatPath);
}

describe("applyPatch", () => {
  it("keeps fields of other owners and removes fields without an owner", () => {
    const one = apply(NOTHING, "one", { text: "x", map: { a: "1", b: "2" } });
    const both = apply(one, "two", { map: { b: "2", c: "3" } });
    const after = apply(both, "one", { map: { a: "1" } });
    expect(after.object).toEqual({ map: { a: "1", b: "2", c: "3" } });
    expect(ownedBy(after, "one")).toEqual([".map.a"]);
    expect(ownedBy(after, "two")).toEqual([".map.b", ".map.c"]);
    expect(apply(after, "two", {}).object).toEqual({ map: { a: "1" } });
  });

  it("makes a map null that its owner empties and still names, and removes one without an owner", () => {
    const full = apply(NOTHING, "one", { map: { a: "1" } });
    expect(apply(full, "one", { map: {} }).object).toEqual({ map: null });
    expect(apply(full, "one", {}).object).toEqual({});
  });

  it("is a conflict where it changes a field of another, and takes it by force", () => {
    const one = apply(NOTHING, "one", { text: "x", tags: ["a"] });
    expect(() => apply(one, "two", { text: "y", tags: ["a", "b"] })).toThrow(
      expect.objectContaining({
        conflicts: [{ manager: expect.objectContaining({ name: "one" }), path: ["f:text"] }],
      }),
    );
    const forced = apply(one, "two", { text: "y" }, true);
    expect(forced.object["text"]).toBe("y");
    expect(ownedBy(forced, "one")).toEqual(['.tags[="a"]']);
  });

  it("finds items of a list by their keys, with the defaults of the schema", () => {
    const one = apply(NOTHING, "one", { ports: [{ name: "dns", port: 53 }] });
    const two = apply(one, "two", {
      ports: [
        { name: "dns", protocol: "TCP", port: 53 },
        { name: "dns", protocol: "UDP" },
      ],
    });
    expect(two.object["ports"]).toEqual([
      { name: "dns", port: 53, protocol: "TCP" },
      { name: "dns", protocol: "UDP" },
    ]);
    expect(ownedBy(two, "one")).toContain('.ports[name="dns",protocol="TCP"].port');
  });

  it("refuses an applied list of a built-in type with unknown merge rules", () => {
    const type = builtInRootType();
    const options = { type, typeAt: () => type, writer: writer("one"), isOwnable, force: false };
    const known = {
      spec: { template: { spec: { containers: [{ name: "web", image: "web:1" }] } } },
    };
    expect(applyPatch(NOTHING, known, options).object).toEqual(known);
    const unknown = { spec: { secrets_: ["x"] } };
    expect(() => applyPatch(NOTHING, unknown, options)).toThrow("merges the list .spec.secrets_");
  });

  it("ends in the union of the last applied fields of each manager, in any order", () => {
    const texts = fc.dictionary(fc.constantFrom("a", "b", "c", "d"), fc.constant("x"));
    const tags = fc.uniqueArray(fc.constantFrom("p", "q", "r"));
    const object = fc.record({ map: texts, tags });
    const steps = fc.array(fc.tuple(fc.constantFrom("one", "two", "three"), object), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(steps, (changes) => {
        let live = NOTHING;
        const last = new Map<string, { map: object; tags: string[] }>();
        for (const [name, applied] of changes) {
          const next = apply(live, name, applied);
          // A server refuses an apply that empties a map.
          if (next.object["map"] === null) continue;
          live = next;
          last.set(name, applied);
        }
        const wanted = [...last.values()];
        expect(live.object["map"] ?? {}).toEqual(
          Object.assign({}, ...wanted.map(({ map }) => map)),
        );
        const all = new Set(wanted.flatMap((one) => one.tags));
        expect(new Set((live.object["tags"] as string[] | undefined) ?? [])).toEqual(all);
      }),
    );
  });

  it("changes nothing when it is repeated", () => {
    const applied = { text: "x", map: { a: "1" }, tags: ["b", "a"], ports: [{ name: "web" }] };
    const once = apply(NOTHING, "one", applied);
    expect(apply(once, "one", applied)).toBe(once);
  });
});

describe("ownUpdate", () => {
  it("makes the writer the only owner of changed fields", () => {
    const live = apply(NOTHING, "one", { text: "x", map: { a: "1" }, tags: ["t"] });
    const next = { text: "y", map: { a: "1", b: "2" } };
    const editor = { ...writer("editor"), operation: "Update" as const };
    const managers = ownUpdate(live, next, { type, typeAt: () => type, writer: editor, isOwnable });
    const after = { object: next, managers };
    expect(ownedBy(after, "one")).toEqual([".map.a"]);
    expect(ownedBy(after, "editor")).toEqual([".text", ".map.b"]);
    expect(ownUpdate(after, next, { type, typeAt: () => type, writer: editor, isOwnable })).toBe(
      managers,
    );
  });
});

describe("managedFields", () => {
  it("are read as they were written", () => {
    const { managers } = apply(NOTHING, "one", {
      text: "x",
      map: { a: "1" },
      tags: ["t"],
      ports: [{ name: "web", port: 80 }],
    });
    const written = writeManagers(managers);
    expect(written).toMatchObject([
      {
        manager: "one",
        fieldsV1: {
          "f:map": { "f:a": {} },
          "f:ports": {
            'k:{"name":"web","protocol":"TCP"}': { ".": {}, "f:name": {}, "f:port": {} },
          },
          "f:tags": { 'v:"t"': {} },
          "f:text": {},
        },
      },
    ]);
    expect(writeManagers(readManagers(written))).toEqual(written);
  });
});

describe("mergeTyped", () => {
  it.each([
    [
      ["x", "y"],
      ["z", "x"],
      ["z", "x", "y"],
    ],
    [
      ["a", "b", "c"],
      ["c", "a"],
      ["b", "c", "a"],
    ],
    [["a", "b"], [], ["a", "b"]],
    [[], ["b", "a"], ["b", "a"]],
    [
      ["l", "a", "m", "b"],
      ["b", "n", "a"],
      ["l", "m", "b", "n", "a"],
    ],
  ])("puts %j and %j in the order %j", (live, applied, merged) => {
    expect(mergeTyped({ tags: live }, { tags: applied }, type)).toEqual({ tags: merged });
  });
});
