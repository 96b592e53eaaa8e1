import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import {
  builtIn,
  type CachedObject,
  customResource,
  generationChanged,
  type Informer,
  type KubeClient,
  type KubeObject,
  type ObjectChange,
  ownerOf,
  ownerReference,
} from "@holdfast/kubernetes";
import type { Pod as PodObject } from "kubernetes-types/core/v1.js";
import { describe, expect, it } from "vitest";

const ConfigMap = builtIn<KubeObject>("v1", "ConfigMap");
const Greeting = customResource({
  apiVersion: "example.org/v2",
  kind: "Greeting",
  plural: "greetings",
});
const Zone = customResource({
  apiVersion: "example.org/v1",
  kind: "Zone",
  plural: "zones",
  scope: "Cluster",
});

type Reference = [apiVersion: string, kind: string, name: string, controller?: boolean];

function owned(
  namespace: string | undefined,
  ...references: Reference[]
): CachedObject<KubeObject> {
  const ownerReferences = references.map(([apiVersion, kind, name, controller = true]) => ({
    apiVersion,
    kind,
    name,
    uid: "1",
    controller,
  }));
  const metadata = { name: "child", uid: "2", resourceVersion: "3", creationTimestamp: "" };
  return { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, namespace, ownerReferences } };
}

describe("ownerOf", () => {
  it("matches group and kind in any version, and returns each key once", () => {
    const object = owned(
      "default",
      ["example.org/v1", "Greeting", "ann"],
      ["example.org/v2", "Greeting", "ann"],
      ["example.com/v2", "Greeting", "bob"],
      ["example.org/v2", "Zone", "cat"],
      ["v2", "Greeting", "dan"],
    );
    expect(ownerOf(Greeting)({ object, old: undefined })).toEqual(["default/ann"]);
  });

  it("names the controller alone, unless it is asked for every owner", () => {
    const others = Array.from(
      { length: 9_000 },
      (_, index): Reference => ["example.org/v2", "Greeting", `a${index}`, false],
    );
    const object = owned("default", ...others, ["example.org/v2", "Greeting", "ann"]);
    const unmarked = owned("default", ["example.org/v2", "Greeting", "ann"]);
    const [reference] = unmarked.metadata.ownerReferences ?? [];
    delete (reference as { controller?: boolean }).controller;
    expect(ownerOf(Greeting)({ object, old: unmarked })).toEqual(["default/ann"]);
    expect(ownerOf(Greeting)({ object: unmarked, old: undefined })).toEqual([]);
    const every = ownerOf(Greeting, { everyOwner: true });
    expect(every({ object, old: undefined })).toHaveLength(9_001);
    expect(every({ object: unmarked, old: undefined })).toEqual(["default/ann"]);
  });

  it("names the owners before and after a change", () => {
    const old = owned("default", ["example.org/v2", "Greeting", "ann"]);
    const object = owned("default", ["example.org/v2", "Greeting", "bob"]);
    expect(ownerOf(Greeting)({ object, old })).toEqual(["default/bob", "default/ann"]);
  });

  it("names an owner of cluster scope without a namespace, and none in a namespace for an object without", () => {
    const reference: Reference = ["example.org/v1", "Zone", "eu"];
    expect(ownerOf(Zone)({ object: owned("default", reference), old: undefined })).toEqual(["eu"]);
    const object = owned(undefined, ["example.org/v2", "Greeting", "ann"]);
    expect(ownerOf(Greeting)({ object, old: undefined })).toEqual([]);
    expect(ownerOf(builtIn("v1", "Pod"))({ object: owned("a"), old: undefined })).toEqual([]);
  });

  it("fits informers of types of kubernetes-types", () => {
    const source = (pods: Informer<PodObject>) =>
      pods.source({ to: ownerOf(Greeting), when: generationChanged });
    expect(source).toBeTypeOf("function");
  });
});

describe("ownerReference", () => {
  it("makes the owner the controller, and sets no field that needs more permissions", () => {
    const owner = owned("default");
    expect(ownerReference(Greeting, owner)).toEqual({
      ...{
        apiVersion: "example.org/v2",
        kind: "Greeting",
        name: "child",
        uid: "2",
        controller: true,
      },
    });
  });

  it("refuses an object that is not stored", () => {
    expect(() => ownerReference(Greeting, { metadata: { name: "ann" } })).toThrow(
      "object must be a stored Greeting, with metadata.name and metadata.uid",
    );
  });
});

describe("generationChanged", () => {
  const at = (generation: number | undefined): CachedObject<KubeObject> => {
    const { metadata, ...rest } = owned("default");
    return { ...rest, metadata: { ...metadata, generation } };
  };
  const rows: [ObjectChange["type"], number | undefined, number | undefined, boolean][] = [
    ["updated", 1, 1, false],
    ["updated", 1, 2, true],
    ["updated", undefined, undefined, true],
    ["updated", undefined, 1, true],
    ["deleted", 1, 1, true],
  ];
  it.each(rows)("of %s from generation %s to %s is %s", (type, before, after, passes) => {
    expect(generationChanged({ type, old: at(before), object: at(after) })).toBe(passes);
  });

  it("passes an addition", () => {
    expect(generationChanged({ type: "added", old: undefined, object: at(1) })).toBe(true);
  });
});

describe("an owner that a child must not have", () => {
  const parent = { metadata: { namespace: "a", name: "ann", uid: "ann-1" } };
  const elsewhere = { namespace: "b", name: "child" };
  const reference = () => ownerReference(Greeting, parent);
  const ownerReferences = () => [reference()];

  async function refusalOf(write: (client: KubeClient) => Promise<unknown>): Promise<string> {
    const api = new FakeApi({ clock: new FakeClock(), resources: [Greeting, Zone, ConfigMap] });
    const error = await write(api.client).catch((caught: unknown) => caught);
    expect(api.requests).toEqual([]);
    return String(error);
  }

  const ofNamespace =
    "RangeError: ConfigMap b/child is in another namespace: it must not be owned by Greeting a/ann, as a cluster would delete or leak it. Use a label, and a finalizer of the owner";

  it.each<[string, (client: KubeClient) => Promise<unknown>]>([
    [
      "create",
      (client) =>
        client.create(ConfigMap, {
          metadata: { ...elsewhere, ownerReferences: ownerReferences() },
        }),
    ],
    [
      "update",
      (client) =>
        client.update(ConfigMap, {
          metadata: { ...elsewhere, resourceVersion: "1", ownerReferences: ownerReferences() },
        }),
    ],
    [
      "apply",
      (client) =>
        client.apply(ConfigMap, { metadata: { ...elsewhere, ownerReferences: ownerReferences() } }),
    ],
    [
      "apply of a copy",
      (client) => {
        const copies = [{ ...reference(), blockOwnerDeletion: true }];
        return client.apply(ConfigMap, { metadata: { ...elsewhere, ownerReferences: copies } });
      },
    ],
    [
      "apply with owned",
      (client) =>
        client.apply(
          ConfigMap,
          { metadata: { ...elsewhere, ownerReferences: ownerReferences() } },
          { owned: true },
        ),
    ],
    [
      "a merge patch",
      (client) =>
        client.patch(ConfigMap, elsewhere, { metadata: { ownerReferences: ownerReferences() } }),
    ],
    [
      "a JSON patch",
      (client) =>
        client.patch(ConfigMap, elsewhere, [
          { op: "add", path: "/metadata/ownerReferences", value: ownerReferences() },
        ]),
    ],
    [
      "a JSON patch of the metadata",
      (client) =>
        client.patch(ConfigMap, elsewhere, [
          { op: "replace", path: "/metadata", value: { ownerReferences: ownerReferences() } },
        ]),
    ],
    [
      "a JSON patch of the object",
      (client) =>
        client.patch(ConfigMap, elsewhere, [
          { op: "add", path: "", value: { metadata: { ownerReferences: ownerReferences() } } },
        ]),
    ],
    [
      "a JSON patch of one item",
      (client) =>
        client.patch(ConfigMap, elsewhere, [
          { op: "add", path: "/metadata/ownerReferences/-", value: reference() },
        ]),
    ],
  ])(
    "because it is in another namespace is refused by %s, before any request",
    async (_, write) => {
      expect(await refusalOf(write)).toBe(ofNamespace);
    },
  );

  it("is not the reason for a write without a namespace", async () => {
    const metadata = { name: "child", ownerReferences: ownerReferences() };
    for (const write of ["create", "apply"] as const)
      expect(await refusalOf((client) => client[write](ConfigMap, { metadata }))).toBe(
        'RangeError: a ConfigMap is namespaced: ref must be "namespace/name", got {"name":"child"}',
      );
  });

  it("because the child is of cluster scope is refused before any request", async () => {
    const metadata = { name: "eu", ownerReferences: ownerReferences() };
    expect(await refusalOf((client) => client.apply(Zone, { metadata }))).toBe(
      "RangeError: Zone eu is of cluster scope: it must not be owned by Greeting a/ann, as a cluster would delete or leak it. Use a label, and a finalizer of the owner",
    );
  });

  it("is none of its namespace, and none of cluster scope", async () => {
    const api = new FakeApi({ clock: new FakeClock(), resources: [Greeting, Zone, ConfigMap] });
    const zone = ownerReference(Zone, { metadata: { name: "eu", uid: "eu-1" } });
    const own = { ...reference(), controller: false };
    const metadata = { namespace: "a", name: "child", ownerReferences: [zone, own] };
    await api.client.apply(ConfigMap, { metadata });
    await api.client.apply(Zone, { metadata: { name: "de", ownerReferences: [zone] } });
    expect(api.requests).toHaveLength(2);
  });
});
