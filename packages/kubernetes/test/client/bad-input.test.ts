import {
  builtIn,
  type CachedObject,
  finalize,
  KubeClient,
  type KubeObject,
  metadataOf,
  removeFinalizer,
} from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { expectNoSecret, SECRET_DATA, safeErrorOf } from "../secrets.ts";
import { scriptedTransport } from "./scripted-transport.ts";

const { transport, requests } = scriptedTransport({});
const client = new KubeClient({ transport });
const ConfigMap = builtIn<KubeObject & { data?: object }>("v1", "ConfigMap");
const ANN = { metadata: { namespace: "default", name: "ann" } };
const stored = { metadata: { ...ANN.metadata, resourceVersion: "7" } };

describe("a reference", () => {
  it.each([
    "default/..",
    "default/.",
    "default/a/b",
    "default/a%2fb",
    "default/",
    "/ann",
    "ann",
    "../x",
  ])("such as %j is refused by every call", async (ref) => {
    const [namespace, name] = ref.includes("/")
      ? [ref.slice(0, ref.indexOf("/")), ref.slice(ref.indexOf("/") + 1)]
      : [undefined, ref];
    const metadata = { name, namespace, resourceVersion: "7" };
    const calls = [
      client.get(ConfigMap, ref),
      client.find(ConfigMap, { name, namespace }),
      client.create(ConfigMap, { metadata }),
      client.update(ConfigMap, { metadata }),
      client.apply(ConfigMap, { metadata }),
      client.patch(ConfigMap, ref, {}),
      client.modify(ConfigMap, ref, () => {}),
      client.delete(ConfigMap, ref),
      client.upgradeToApply(ConfigMap, ref),
    ];
    for (const { status, reason } of (await Promise.allSettled(calls)) as PromiseRejectedResult[]) {
      expect(status).toBe("rejected");
      expect(String(reason)).toMatch(
        /^(RangeError|TypeError): (name|namespace|object\.metadata\.name|a ConfigMap)\b/,
      );
    }
    expect(requests).toEqual([]);
  });

  it("to all namespaces is refused by create", async () => {
    const create = client.create(ConfigMap, { metadata: { generateName: "a-" } });
    expect((await safeErrorOf(create)).message).toContain("a ConfigMap is namespaced");
  });
});

it("metadata alone is refused by each call that writes, by its name", async () => {
  const Partial = metadataOf(ConfigMap) as typeof ConfigMap;
  const object = stored as CachedObject<KubeObject>;
  const options = { finalizer: "example.org/a", apply: () => {}, cleanup: () => {} };
  const calls = {
    create: () => client.create(Partial, ANN),
    update: () => client.update(Partial, stored),
    patch: () => client.patch(Partial, "a/b", {}),
    apply: () => client.apply(Partial, ANN),
    modify: () => client.modify(Partial, "a/b", () => {}),
    upgradeToApply: () => client.upgradeToApply(Partial, "a/b"),
    delete: () => client.delete(Partial, "a/b"),
    deleteCollection: () => client.deleteCollection(Partial),
    finalize: () => finalize(client, Partial, object, options as never),
    removeFinalizer: () => removeFinalizer(client, Partial, object, options),
  };
  for (const [name, call] of Object.entries(calls))
    await expect(call()).rejects.toThrow(
      new TypeError(
        `resource must be the whole ConfigMap for ${name}, got metadataOf(ConfigMap), which is for reading`,
      ),
    );
  expect(requests).toEqual([]);
});

describe("a selector", () => {
  it.each([{ app: "x,env=prod" }, { "app,env": "x" }, { app: ["a", "b)"] }])(
    "such as %j is refused",
    (labels) => {
      expect(() => client.list(ConfigMap, { labels })).toThrow(/^labels/);
      expect(() => client.watch(ConfigMap, { labels })).toThrow(/^labels/);
      expect(requests).toEqual([]);
    },
  );

  it("for a namespace with a slash is refused", () => {
    expect(() => client.list(ConfigMap, { namespace: "a/../b" })).toThrow(/^namespace must be/);
    expect(() => client.watch(ConfigMap, { namespace: "a/../b" })).toThrow(/^namespace must be/);
    expect(() => client.list(ConfigMap, { namespace: "" })).toThrow(/^namespace must be/);
  });
});

describe("an object", () => {
  it("of another kind is refused, without its data", async () => {
    const secret = { apiVersion: "v1", kind: "Secret", ...stored, data: { a: SECRET_DATA } };
    for (const call of ["create", "update", "apply"] as const) {
      const error = await safeErrorOf(client[call](ConfigMap, secret));
      expect(error.message).toBe('object must be a ConfigMap of v1, got "Secret" of "v1"');
    }
    expect(requests).toEqual([]);
  });

  it("without a version is refused by update, without its data", async () => {
    const error = await client
      .update(ConfigMap, { ...ANN, data: { a: SECRET_DATA } } as never)
      .catch((caught: unknown) => caught);
    expectNoSecret(error);
    expect(String(error)).toBe(
      "TypeError: object.metadata.resourceVersion must be the version that the object was read with, got none: use modify() or apply()",
    );
  });

  it("without a name is refused", async () => {
    const metadata = { namespace: "default", resourceVersion: "7" };
    for (const call of ["create", "update", "apply"] as const)
      expect((await safeErrorOf(client[call](ConfigMap, { metadata } as never))).message).toBe(
        "object.metadata.name must be a string, got undefined",
      );
  });
});
