import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type JsonPatchOperation, jsonPatch } from "../../src/server/patch/json-patch.ts";
import { mergePatch } from "../../src/server/patch/merge-patch.ts";

/** Values of JSON with few names, so that patches meet what they change. */
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(null, true, 1, "x"),
    fc.dictionary(fc.constantFrom("a", "b", "c/d", "e~f"), tie("value"), { maxKeys: 4 }),
    fc.array(tie("value"), { maxLength: 3 }),
  ),
})).value;

describe("mergePatch", () => {
  // RFC 7386, appendix A: original, patch, result.
  it.each([
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [
      ["a", "b"],
      ["c", "d"],
      ["c", "d"],
    ],
    [{ a: "b" }, ["c"], ["c"]],
    [{ a: "foo" }, null, null],
    [{ a: "foo" }, "bar", "bar"],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: "b", c: null }, { a: "b" }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    // As the library of the server, and unlike the RFC.
    [{ a: [1] }, { a: [{ b: null, c: [{ d: null }] }, null] }, { a: [{ c: [{}] }, null] }],
  ])("of %j with %j is %j", (original, patch, result) => {
    const before = structuredClone(original);
    expect(mergePatch(original, patch)).toEqual(result);
    expect(original).toEqual(before);
  });

  it("turns any value into any other without null, by their difference", () => {
    fc.assert(
      fc.property(json, json, (from, to) => {
        const target = withoutNulls(to);
        expect(mergePatch(from, differenceOf(from, target))).toEqual(target);
      }),
    );
  });

  it.each(["__proto__", "constructor", "prototype"])(
    "refuses the field %s at any depth",
    (name) => {
      const patch = JSON.parse(`{"a":{"${name}":{"polluted":true}}}`);
      expect(() => mergePatch({ a: {} }, patch)).toThrow(`must not write the field "${name}"`);
      expect(({} as { polluted?: true }).polluted).toBeUndefined();
    },
  );
});

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => (item === null ? null : withoutNulls(item)));
  if (typeof value !== "object" || value === null) return value ?? "nothing";
  const entries = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(entries.map(([name, member]) => [name, withoutNulls(member)]));
}

function differenceOf(from: unknown, to: unknown): unknown {
  if (!isMap(from) || !isMap(to)) return to;
  const removed = Object.keys(from).filter((name) => !Object.hasOwn(to, name));
  return {
    ...Object.fromEntries(removed.map((name) => [name, null])),
    ...Object.fromEntries(
      Object.entries(to).map(([name, member]) => [name, differenceOf(from[name], member)]),
    ),
  };
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

describe("jsonPatch", () => {
  // RFC 6902, appendix A, in its order.
  it.each<[string, unknown, unknown[], unknown]>([
    [
      "A.1",
      { foo: "bar" },
      [{ op: "add", path: "/baz", value: "qux" }],
      { baz: "qux", foo: "bar" },
    ],
    [
      "A.2",
      { foo: ["bar", "baz"] },
      [{ op: "add", path: "/foo/1", value: "qux" }],
      { foo: ["bar", "qux", "baz"] },
    ],
    ["A.3", { baz: "qux", foo: "bar" }, [{ op: "remove", path: "/baz" }], { foo: "bar" }],
    [
      "A.4",
      { foo: ["bar", "qux", "baz"] },
      [{ op: "remove", path: "/foo/1" }],
      { foo: ["bar", "baz"] },
    ],
    [
      "A.5",
      { baz: "qux", foo: "bar" },
      [{ op: "replace", path: "/baz", value: "boo" }],
      { baz: "boo", foo: "bar" },
    ],
    [
      "A.6",
      { foo: { bar: "baz", waldo: "fred" }, qux: { corge: "grault" } },
      [{ op: "move", from: "/foo/waldo", path: "/qux/thud" }],
      { foo: { bar: "baz" }, qux: { corge: "grault", thud: "fred" } },
    ],
    [
      "A.7",
      { foo: ["all", "grass", "cows", "eat"] },
      [{ op: "move", from: "/foo/1", path: "/foo/3" }],
      { foo: ["all", "cows", "eat", "grass"] },
    ],
    [
      "A.8",
      { baz: "qux", foo: ["a", 2, "c"] },
      [
        { op: "test", path: "/baz", value: "qux" },
        { op: "test", path: "/foo/1", value: 2 },
      ],
      { baz: "qux", foo: ["a", 2, "c"] },
    ],
    [
      "A.10",
      { foo: "bar" },
      [{ op: "add", path: "/child", value: { grandchild: {} } }],
      { foo: "bar", child: { grandchild: {} } },
    ],
    [
      "A.11",
      { foo: "bar" },
      [{ op: "add", path: "/baz", value: "qux", xyz: 123 }],
      { foo: "bar", baz: "qux" },
    ],
    ["A.14", { "/": 9, "~1": 10 }, [{ op: "test", path: "/~01", value: 10 }], { "/": 9, "~1": 10 }],
    [
      "A.16",
      { foo: ["bar"] },
      [{ op: "add", path: "/foo/-", value: ["abc", "def"] }],
      { foo: ["bar", ["abc", "def"]] },
    ],
    ["the whole", { foo: 1 }, [{ op: "replace", path: "", value: [2] }], [2]],
    [
      "a copy",
      { a: { b: 1 } },
      [{ op: "copy", from: "/a", path: "/c" }],
      { a: { b: 1 }, c: { b: 1 } },
    ],
  ])("does %s", (_, document, patch, result) => {
    const before = structuredClone(document);
    expect(jsonPatch(document, patch as JsonPatchOperation[])).toEqual(result);
    expect(document).toEqual(before);
  });

  it.each<[string, unknown, unknown]>([
    ["A.9", { baz: "qux" }, { op: "test", path: "/baz", value: "bar" }],
    ["A.12", { foo: "bar" }, { op: "add", path: "/baz/bat", value: "qux" }],
    ["A.15", { "/": 9, "~1": 10 }, { op: "test", path: "/~01", value: "10" }],
    ["a missing field", {}, { op: "remove", path: "/a" }],
    ["an index past the end", { a: [1] }, { op: "add", path: "/a/2", value: 1 }],
    ["an index before the first", { a: [1, 2] }, { op: "remove", path: "/a/-3" }],
    ["a move into itself", { a: { b: 1 } }, { op: "move", from: "/a", path: "/a/b" }],
    [
      "a move of an item into the next",
      { a: [{}, {}] },
      { op: "move", from: "/a/0", path: "/a/0/b" },
    ],
    ["a path without a slash", { a: 1 }, { op: "remove", path: "a" }],
    ["a field that an object inherits", {}, { op: "test", path: "/toString/length", value: 0 }],
  ])("rejects %s", (_, document, operation) => {
    expect(() => jsonPatch(document, [operation as JsonPatchOperation])).toThrow(
      expect.objectContaining({ name: "JsonPatchError" }),
    );
  });

  it("undoes its additions, and does not change its argument", () => {
    fc.assert(
      fc.property(json, json, fc.constantFrom("new", "a~1b", "n~0m"), (document, value, name) => {
        const target = isMap(document) ? document : { a: document };
        const before = structuredClone(target);
        const path = `/${name}`;
        const added = jsonPatch(target, [{ op: "add", path, value }]);
        expect(jsonPatch(added, [{ op: "test", path, value }])).toEqual(added);
        expect(jsonPatch(added, [{ op: "remove", path }])).toEqual(before);
        expect(target).toEqual(before);
      }),
    );
  });

  it.each(["/__proto__/polluted", "/a/constructor/prototype/polluted", "/prototype"])(
    "refuses the path %s, also to copy from",
    (path) => {
      const value = true;
      expect(() => jsonPatch({ a: {} }, [{ op: "add", path, value }])).toThrow("must not write");
      expect(() => jsonPatch({ a: {} }, [{ op: "copy", from: path, path: "/b" }])).toThrow(
        "must not",
      );
      expect(({} as { polluted?: true }).polluted).toBeUndefined();
    },
  );
});
