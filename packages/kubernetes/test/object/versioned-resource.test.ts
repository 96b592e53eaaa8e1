import { customResource, keepInAnnotation, type ObjectOf } from "@holdfast/kubernetes";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";

const PARTS = ["minute", "hour"] as const;
const names = { group: "example.org", kind: "Task", plural: "tasks" } as const;
const text = z.object({ schedule: z.string(), zone: z.string().default("UTC") });
const fields = z.object({
  schedule: z.object({ minute: z.string().optional(), hour: z.string().optional() }),
  zone: z.string().default("UTC"),
  note: z.string().nullable().optional(),
});
const status = z.object({ active: z.array(z.string()).optional() });

const Task = customResource({
  ...names,
  shortNames: ["tk"],
  versions: {
    v1: {
      spec: text,
      status,
      deprecated: "use v2",
      selectable: [".spec.zone"],
      columns: [{ name: "Schedule", path: ".spec.schedule" }],
    },
    v2: { spec: fields, status, conditions: true },
  },
  storage: "v1",
  hub: "v2",
  convert: {
    v1: {
      toHub({ spec: { schedule, ...same } }) {
        const [minute, hour] = schedule?.split(" ") ?? [];
        return { spec: { ...same, ...(schedule !== undefined && { schedule: { minute, hour } }) } };
      },
      fromHub({ spec: { schedule, ...same }, metadata }) {
        const all = schedule && PARTS.map((name) => schedule[name] ?? "*").join(" ");
        return { metadata, spec: { ...same, schedule: all } };
      },
    },
  },
  service: { name: "hooks", namespace: "system", port: 8443 },
});

const object = (version: string, parts: object): object => ({
  apiVersion: `example.org/${version}`,
  kind: "Task",
  metadata: { name: "a", namespace: "b", uid: "1", labels: { l: "1" } },
  ...parts,
});

describe("customResource with versions", () => {
  it("makes one manifest of all versions", () => {
    const { spec } = Task.crd as { spec: { conversion: object; versions: object[] } };
    expect(spec.conversion).toEqual({
      strategy: "Webhook",
      webhook: {
        conversionReviewVersions: ["v1"],
        clientConfig: {
          service: { namespace: "system", name: "hooks", path: "/convert", port: 8443 },
        },
      },
    });
    expect(spec.versions).toMatchObject([
      {
        ...{ name: "v1", served: true, storage: true },
        ...{ deprecated: true, deprecationWarning: "use v2" },
        selectableFields: [{ jsonPath: ".spec.zone" }],
        additionalPrinterColumns: [{ name: "Schedule", type: "string" }],
        subresources: { status: {} },
      },
      { name: "v2", served: true, storage: false, subresources: { status: {} } },
    ]);
    expect(spec.versions[1]).not.toHaveProperty("deprecated");
    expect(spec).toMatchObject({
      names: { kind: "Task", shortNames: ["tk"] },
      scope: "Namespaced",
    });
  });

  it("makes a resource of each version, with one manifest and one conversion", () => {
    expect(Task.v1).toMatchObject({ apiVersion: "example.org/v1", version: "v1", plural: "tasks" });
    expect(Task.v2).toMatchObject({
      apiVersion: "example.org/v2",
      version: "v2",
      scope: "Namespaced",
    });
    expect(Task.v1.crd).toBe(Task.crd);
    expect(Task.v2.convert).toBe(Task.convert);
    expect(Object.isFrozen(Task) && Object.isFrozen(Task.v1)).toBe(true);
  });

  it("infers the objects of each version from its schemas", () => {
    expectTypeOf<ObjectOf<typeof Task.v1>["spec"]>().toEqualTypeOf<z.output<typeof text>>();
    expectTypeOf<ObjectOf<typeof Task.v2>["spec"]>().toEqualTypeOf<z.output<typeof fields>>();
    expectTypeOf<NonNullable<ObjectOf<typeof Task.v1>["status"]>>().toEqualTypeOf<
      z.output<typeof status>
    >();
    const read = () => Task.convert({}, "v2").spec.schedule.minute;
    expectTypeOf<ReturnType<typeof read>>().toEqualTypeOf<string | undefined>();
    // @ts-expect-error no such version
    expect(() => Task.convert(object("v1", {}), "v3")).toThrow(
      'version must be one of v1, v2, got "v3"',
    );
  });

  it("needs no webhook if all versions have the same fields", () => {
    const Same = customResource({
      ...names,
      versions: { v1: { spec: text, served: false }, v2: { spec: text }, v3: { spec: text } },
      storage: "v2",
    });
    expect(Same.crd).toMatchObject({ spec: { conversion: { strategy: "None" } } });
    expect(Same.convert(object("v1", { spec: { zone: "Z" } }), "v3")).toEqual(
      object("v3", { spec: { zone: "Z" } }),
    );
  });

  const other = z.object({
    schedule: z.string(),
    zone: z.string(),
    list: z.array(z.object({ a: z.string() })),
  });
  const bad: [string, object, string][] = [
    [
      "a field that only the hub has",
      { versions: { v1: { spec: text }, v2: { spec: other } } },
      "convert.v2 is missing: a version without it needs the same fields as the hub v1, and only v2 has .spec.list; give it toHub and fromHub, or name the field in keepInAnnotation",
    ],
    [
      "a field of another type",
      { versions: { v1: { spec: text }, v2: { spec: fields } } },
      "convert.v2 is missing: a version without it needs the same fields as the hub v1, and .spec.schedule has another type in v1; ",
    ],
    [
      "an inner field",
      {
        versions: {
          v1: { spec: other },
          v2: { spec: z.object({ ...other.shape, list: z.array(z.object({})) }) },
        },
      },
      "only v1 has .spec.list[].a;",
    ],
    [
      "a missing status",
      { versions: { v1: { spec: text, status }, v2: { spec: text } } },
      "only v1 has .status;",
    ],
    ["no versions", { versions: {} }, 'storage must be one of the versions (none), got "v1"'],
    ["no group", { group: undefined }, "group must be a string, got undefined"],
    ["a bad group", { group: "a/b" }, 'versions["v1"] must be an API version'],
    ["a bad name", { versions: { "1": { spec: text } } }, 'versions["1"] must be an API version'],
    [
      "the name of a member",
      { versions: { crd: { spec: text } }, storage: "crd" },
      'versions["crd"] must not be named as a member of the resource',
    ],
    ["no schema", { versions: { v1: {} } }, "versions.v1.spec is missing"],
    ["null as a version", { versions: { v1: null } }, "versions.v1 must be an object, got null"],
    [
      "an unknown option of a version",
      { versions: { v1: { spec: text, stored: true } } },
      "versions.v1.stored is not an option of customResource",
    ],
    [
      "a schema that a CRD cannot express",
      { versions: { v1: { spec: z.object({ a: z.tuple([z.string()]) }) } } },
      "a CRD cannot express the schema of versions.v1.spec.a",
    ],
    [
      "a bad column",
      { versions: { v1: { spec: text, columns: [{ name: "a", path: "a" }] } } },
      "versions.v1.columns[0].path must be a path",
    ],
    ["a bad rule", { versions: { v1: { spec: text, rules: [{}] } } }, "versions.v1.rules[0].rule"],
    [
      "bad keys",
      { versions: { v1: { spec: text, listKeys: { ".spec.a": ["b"] } } } },
      "versions.v1.listKeys must name lists of objects",
    ],
    [
      "an unknown field to select",
      { versions: { v1: { spec: text, selectable: [".spec.no"] } } },
      'versions.v1.selectable[0] must name a field of the schema, got ".spec.no"',
    ],
    [
      "an unknown field to scale",
      { versions: { v1: { spec: text, scale: { replicas: ".spec.no", status: ".status.no" } } } },
      'versions.v1.scale.replicas must name a field of the schema, got ".spec.no"',
    ],
    [
      "served as a text",
      { versions: { v1: { spec: text, served: "yes" } } },
      'versions.v1.served must be true or false, got "yes"',
    ],
    [
      "an empty warning",
      { versions: { v1: { spec: text, deprecated: "" } } },
      "versions.v1.deprecated must be true, false or a text of 1 to 256 characters, got 0 characters",
    ],
    ["an unknown storage", { storage: "v9" }, 'storage must be one of the versions (v1), got "v9"'],
    ["an unknown hub", { hub: "v9" }, 'hub must be one of the versions (v1), got "v9"'],
    [
      "a conversion of the hub",
      { convert: { v1: {} } },
      'convert must name versions besides the hub (none), got "v1"',
    ],
    [
      "half a conversion",
      {
        versions: { v1: { spec: text }, v2: { spec: fields } },
        convert: { v2: { toHub: () => ({}) } },
      },
      "convert.v2 must have toHub and fromHub, or neither, got only toHub",
    ],
    [
      "a conversion that is no function",
      { versions: { v1: { spec: text }, v2: { spec: fields } }, convert: { v2: { toHub: 5 } } },
      "convert.v2.toHub must be a function, got 5",
    ],
    [
      "kept fields that are texts",
      {
        versions: { v1: { spec: text }, v2: { spec: text } },
        convert: { v2: { keep: [".spec.a"] } },
      },
      "convert.v2.keep must be made by keepInAnnotation",
    ],
    [
      "a kept field that both have",
      {
        versions: { v1: { spec: text }, v2: { spec: text } },
        convert: { v2: { keep: keepInAnnotation(".spec.zone") } },
      },
      'convert.v2.keep must name fields that one of the two versions has, got ".spec.zone", which both have',
    ],
    [
      "a kept field that none has",
      {
        versions: { v1: { spec: text }, v2: { spec: text } },
        convert: { v2: { keep: keepInAnnotation(".spec.no") } },
      },
      'got ".spec.no", which none has',
    ],
    [
      "a bad service",
      {
        versions: { v1: { spec: text }, v2: { spec: text } },
        convert: { v2: {} },
        service: { name: "a", namespace: "A" },
      },
      "service.namespace must be a namespace",
    ],
    [
      "a bad port",
      {
        versions: { v1: { spec: text }, v2: { spec: text } },
        convert: { v2: {} },
        service: { name: "a", namespace: "a", port: 0 },
      },
      "service.port must be a whole number from 1 to 65535, got 0",
    ],
    ["an unknown option", { spec: text }, "options.spec is not an option of customResource"],
  ];
  it.each(bad)("names the option for %s", (_, change, message) => {
    const options = { ...names, versions: { v1: { spec: text } }, storage: "v1", ...change };
    expect(() => customResource(options as never)).toThrow(message);
  });

  it("names the argument of keepInAnnotation", () => {
    expect(() => keepInAnnotation()).toThrow("paths must have at least one path");
    for (const path of ["spec.a", ".spec", ".metadata.a", ".spec.a[].b", 5, null])
      expect(() => keepInAnnotation(".spec.b", path as string)).toThrow(
        `paths[1] must be a path below .spec or .status and not below a list, such as ".spec.retries", got ${JSON.stringify(path)}`,
      );
    expect(() => keepInAnnotation(".spec.b", ".spec.b")).toThrow("paths[1] must be there once");
  });
});

describe("convert of a resource with versions", () => {
  const both = { spec: { schedule: "1 2", zone: "Z" }, status: { active: ["x"] } };

  const with2 = (toHub: (part: never) => unknown) =>
    customResource({
      ...names,
      versions: { v1: { spec: text }, v2: { spec: text } },
      storage: "v1",
      convert: { v2: { toHub: toHub as () => object, fromHub: () => ({}) } },
    });

  it("changes the spec, and lets metadata and status through", () => {
    const given = Object.freeze(object("v1", both));
    const made = Task.convert(given, "v2");
    expect(made).toEqual(
      object("v2", {
        spec: { schedule: { minute: "1", hour: "2" }, zone: "Z" },
        status: { active: ["x"] },
      }),
    );
    expect(Task.convert(made, "v1")).toEqual(given);
    expect(Task.convert(made, "v2")).toBe(made);
  });

  it("removes fields that the schema of the asked version lacks", () => {
    const given = object("v1", { spec: { more: 1, schedule: "1 2" }, status: { no: 1 }, no: 1 });
    expect(Task.convert(given, "v2")).toEqual(
      object("v2", { spec: { schedule: { minute: "1", hour: "2" } }, status: {} }),
    );
  });

  it("tells the fields that it removes, but for those that are kept", () => {
    const paths: string[] = [];
    const spec = Object.freeze({ schedule: "1", more: 1, list: 2 });
    const { convert } = with2(() => ({ spec, status: { a: 1 } }));
    convert(object("v2", { spec: {} }), "v1", (path) => paths.push(path));
    expect(paths).toEqual([".spec.more", ".spec.list"]);
    expect(() => convert(object("v2", {}), "v1", 5 as never)).toThrow(
      "onPruned must be a function, got 5",
    );
  });

  it.each([
    ["without a spec", {}],
    ["with null as spec", { spec: null }],
    ["with null as status", { spec: null, status: null }],
    ["with an empty spec", { spec: {} }],
  ])("keeps an object %s as it is", (_, parts) => {
    expect(Task.convert(object("v1", parts), "v2")).toEqual(object("v2", parts));
    expect(Task.convert(object("v2", parts), "v1")).toEqual(object("v1", parts));
  });

  it("hides null from the functions where the schema does not allow it", () => {
    const seen: unknown[] = [];
    const Seen = customResource({
      ...names,
      versions: { v1: { spec: fields }, v2: { spec: fields } },
      storage: "v1",
      convert: {
        v2: {
          toHub: (part) => {
            seen.push(part);
            return {};
          },
          fromHub: () => ({}),
        },
      },
    });
    const spec = { schedule: { minute: null, hour: "1" }, zone: null, note: null };
    Seen.convert({ ...object("v2", { spec }), metadata: {} }, "v1");
    expect(seen).toEqual([
      { metadata: {}, spec: { schedule: { hour: "1" }, note: null }, status: {} },
    ]);
  });

  it("lets labels and annotations change, and nothing else of the metadata", () => {
    const { convert } = with2(() => ({
      metadata: { name: "b", uid: "2", finalizers: ["x/y"], annotations: { a: "1" } },
    }));
    expect(convert(object("v2", { spec: {} }), "v1")).toEqual({
      ...object("v1", { spec: {} }),
      metadata: { name: "a", namespace: "b", uid: "1", annotations: { a: "1" } },
    });
  });

  it("changes nothing of its argument, whatever a function does to its own", () => {
    const given = object("v2", { spec: { schedule: "1 2" } });
    const before = structuredClone(given);
    const { convert } = with2(({ spec, metadata }: { spec: object; metadata: object }) => {
      Object.assign(spec, { schedule: "3 4" });
      Object.assign(metadata, { labels: {} });
      return { spec };
    });
    expect(convert(given, "v1")).toEqual(object("v1", { spec: { schedule: "3 4" } }));
    expect(given).toEqual(before);
  });

  it.each<[string, (part: never) => unknown, string]>([
    [
      "throws",
      () => {
        throw new Error("five fields, please");
      },
      "five fields, please",
    ],
    [
      "throws a text",
      () => {
        throw "five";
      },
      "five",
    ],
    [
      "returns nothing",
      () => undefined,
      "toHub of v2 must return an object with a spec, a status or metadata, got undefined",
    ],
    [
      "returns a promise",
      async () => ({}),
      "toHub of v2 must return an object with a spec, a status or metadata, got a promise: a conversion is synchronous",
    ],
    [
      "returns a list",
      () => [],
      "toHub of v2 must return an object with a spec, a status or metadata, got an array",
    ],
    [
      "returns a text as spec",
      () => ({ spec: "s3cret" }),
      "toHub of v2 must return spec as an object, got a string",
    ],
    [
      "returns null as spec",
      () => ({ spec: null }),
      "toHub of v2 must return spec as an object, got null",
    ],
    [
      "returns a text as metadata",
      () => ({ metadata: "a" }),
      "toHub of v2 must return metadata as an object, got a string",
    ],
    [
      "returns numbers as labels",
      () => ({ metadata: { labels: { a: 1 } } }),
      "toHub of v2 must return metadata.labels as an object of texts, got a number for a",
    ],
    [
      "returns a list as annotations",
      () => ({ metadata: { annotations: [] } }),
      "toHub of v2 must return metadata.annotations as an object of texts, got an array",
    ],
  ])("names kind, object and versions if a function %s", (_, toHub, reason) => {
    const { convert } = with2(toHub);
    expect(() => convert(object("v2", { spec: { zone: "Z" } }), "v1")).toThrow(
      `Task b/a of v2 cannot be converted to v1: ${reason}`,
    );
  });

  it("refuses a part that is no object, and objects of other kinds", () => {
    expect(() => Task.convert(object("v1", { spec: "text" }), "v2")).toThrow(
      "Task b/a of v1 cannot be converted to v2: its spec must be an object, got a string",
    );
    expect(() => Task.convert({ ...object("v1", {}), kind: "Other" }, "v2")).toThrow(
      'object must be a Task of example.org/v1, example.org/v2, got "Other" of "example.org/v1"',
    );
    expect(() => Task.convert({ ...object("v9", {}) }, "v2")).toThrow('of "example.org/v9"');
    for (const value of [null, undefined, 5, "a"])
      expect(() => Task.convert(value as never, "v2")).toThrow("object must be an object");
  });

  it("converts between two versions over the hub", () => {
    const Three = customResource({
      ...names,
      versions: { v1: { spec: text }, v2: { spec: fields }, v3: { spec: text } },
      storage: "v2",
      convert: {
        v1: {
          toHub: () => ({ spec: { note: "by v1" } }),
          fromHub: ({ spec }) => ({ spec: { zone: spec.note ?? "?" } }),
        },
        v3: {
          toHub: () => ({ spec: { note: "by v3" } }),
          fromHub: ({ spec }) => ({ spec: { zone: spec.note ?? "?" } }),
        },
      },
    });
    expect(Three.convert(object("v1", { spec: {} }), "v3").spec).toEqual({ zone: "by v1" });
    expect(Three.convert(object("v3", { spec: {} }), "v1").spec).toEqual({ zone: "by v3" });
  });
});

describe("keepInAnnotation", () => {
  const KEY = "example.org/kept-fields";
  const Kept = customResource({
    ...names,
    versions: {
      v1: { spec: z.object({ url: z.string(), old: z.string().optional() }) },
      v2: {
        spec: z.object({
          url: z.string(),
          retries: z.int().optional(),
          deep: z.object({ list: z.array(z.string()).optional() }).optional(),
        }),
      },
    },
    storage: "v2",
    convert: { v1: { keep: keepInAnnotation(".spec.retries", ".spec.deep", ".spec.old") } },
  });

  it("holds what the other version lacks, in both directions", () => {
    const hub = object("v2", { spec: { url: "u", retries: 3, deep: { list: ["a"] } } });
    const pruned: string[] = [];
    const spoke = Kept.convert(hub, "v1", (path) => pruned.push(path));
    expect(pruned).toEqual([]);
    expect(spoke.spec).toEqual({ url: "u" });
    expect(spoke.metadata?.annotations).toEqual({
      [KEY]: '{".spec.retries":3,".spec.deep":{"list":["a"]}}',
    });
    expect(Kept.convert(spoke, "v2")).toEqual(hub);
    const old = object("v1", { spec: { url: "u", old: "o" } });
    expect(Kept.convert(old, "v2").metadata?.annotations).toEqual({ [KEY]: '{".spec.old":"o"}' });
    expect(Kept.convert(Kept.convert(old, "v2"), "v1")).toEqual(old);
    expect(Kept.lost).toBe(0);
  });

  it("writes no annotation without such fields, and leaves others alone", () => {
    const hub = { ...object("v2", { spec: { url: "u" } }), metadata: { annotations: { a: "1" } } };
    expect(Kept.convert(hub, "v1").metadata?.annotations).toEqual({ a: "1" });
    expect(Kept.convert(object("v2", { spec: { url: "u" } }), "v1").metadata).not.toHaveProperty(
      "annotations",
    );
  });

  it("ignores an annotation that somebody has changed", () => {
    for (const text of [
      "{",
      "5",
      "null",
      '{".spec.url":"x",".spec.no":1,"__proto__":{}}',
      '{".spec.deep":"x"}',
    ]) {
      const metadata = { name: "a", annotations: { [KEY]: text } };
      const made = Kept.convert({ ...object("v1", { spec: { url: "u" } }), metadata }, "v2");
      expect(made).toEqual({
        ...object("v2", { spec: text.includes("deep") ? { url: "u", deep: "x" } : { url: "u" } }),
        metadata: { name: "a" },
      });
    }
  });

  it("loses and counts what does not fit into 16 KiB", () => {
    const list = ["é".repeat(8_200)];
    const hub = object("v2", { spec: { url: "u", retries: 3, deep: { list } } });
    const spoke = Kept.convert(hub, "v1");
    expect(spoke.metadata?.annotations).toEqual({ [KEY]: '{".spec.retries":3}' });
    expect(Kept.lost).toBe(1);
    const room = 16_384 - '{".spec.deep":{"list":[""]}}'.length;
    for (const [length, lost] of [
      [room, 0],
      [room + 1, 1],
    ] as const) {
      const before = Kept.lost;
      Kept.convert(object("v2", { spec: { deep: { list: ["a".repeat(length)] } } }), "v1");
      expect(Kept.lost - before).toBe(lost);
    }
  });
});
