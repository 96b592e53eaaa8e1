import {
  builtIn,
  ensureCrd,
  KubeClient,
  type KubeObject,
  type KubeUpgradeOptions,
  type KubeWatchOptions,
  metadataOf,
} from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import * as kinds from "../../../../test/bad-input.ts";
import { expectNoSecret, SECRET_DATA, safeErrorOf } from "../secrets.ts";
import { scriptedTransport } from "./scripted-transport.ts";

const { transport, requests } = scriptedTransport({});
const client = new KubeClient({ transport });
const ConfigMap = builtIn<KubeObject & { data?: object }>("v1", "ConfigMap");
const ANN = { metadata: { namespace: "default", name: "ann" } };

const isObject = kinds.anyObject;
const resource: kinds.Kind = (path, valid) =>
  isObject(path, valid).concat(kinds.fields({ kind: kinds.text, plural: kinds.text })(path, valid));
const limits = {
  signal: kinds.signal,
  timeout: kinds.notNegative,
  retries: kinds.whole(0),
};
const segment = kinds.all(
  kinds.text,
  ...["..", "a/b", "a%2fb"].map((value) =>
    kinds.except(
      value,
      `RangeError: options.subresource must be a name: at most 253 characters, no "/" and no "%", not "." or "..", got ${JSON.stringify(value)}`,
    ),
  ),
);
const manager = kinds.all(
  kinds.text,
  ...["ä", "x".repeat(129), "a\nb"].map((value) =>
    kinds.except(
      value,
      `RangeError: options.fieldManager must be at most 128 characters of printable ASCII, got ${JSON.stringify(value)}`,
    ),
  ),
);
const seconds = kinds.all(kinds.finite, kinds.outside("a whole number of at least 0", -1, 1.5));
const validation = kinds.except(
  "strict",
  'RangeError: options.fieldValidation must be "Ignore", "Warn" or "Strict", got "strict"',
);
const read = kinds.object({ ...limits, subresource: segment });
const write = kinds.object({
  ...limits,
  subresource: segment,
  fieldManager: manager,
  dryRun: kinds.flag,
  fieldValidation: validation,
});
const propagation = kinds.except(
  "foreground",
  'RangeError: options.propagation must be "Background", "Foreground" or "Orphan", got "foreground"',
);
const crd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "a.b.c" },
  spec: {
    group: "b.c",
    scope: "Cluster",
    names: { kind: "A", plural: "as" },
    versions: [{ name: "v1", served: true, storage: true }],
  },
};
const stored = { metadata: { ...ANN.metadata, resourceVersion: "7" } };
const resourceDoor = ["resource", resource] as const;
const object = ["object", isObject] as const;
const unchecked = ["ref", kinds.unchecked] as const;
const { method } = kinds;

kinds.testBadInput(
  [
    kinds.constructs(
      KubeClient,
      [{ transport }],
      [
        "options",
        kinds.object({
          transport: kinds.methods("send"),
          clock: kinds.methods("now", "monotonic", "newTimer", "afterFunc", "sleep"),
          logger: kinds.methods("debug", "info", "warn", "error"),
          metrics: kinds.methods("requested", "listed", "watchEnded", "rejected", "applySkipped"),
          fieldManager: manager,
          random: kinds.func,
        }),
      ],
    ),
    method(client, "get", "rejects", [ConfigMap, "a/b", {}], resourceDoor, unchecked, [
      "options",
      read,
    ]),
    method(client, "find", "rejects", [ConfigMap, "a/b", {}], resourceDoor, unchecked, [
      "options",
      read,
    ]),
    method(client, "list", "throws", [ConfigMap, {}], resourceDoor, [
      "options",
      kinds.object({
        ...limits,
        pageSize: kinds.all(kinds.finite, kinds.outside("a whole number of at least 1", 0, 1.5)),
      }),
    ]),
    method(client, "watch", "throws", [ConfigMap, {}], resourceDoor, [
      "options",
      kinds.object<KubeWatchOptions>({
        ...limits,
        namespace: kinds.unchecked,
        labels: kinds.unchecked,
        fields: kinds.unchecked,
        resourceVersion: kinds.text,
        bookmarks: kinds.flag,
      }),
    ]),
    method(client, "create", "rejects", [ConfigMap, ANN, {}], resourceDoor, object, [
      "options",
      write,
    ]),
    method(client, "update", "rejects", [ConfigMap, stored, {}], resourceDoor, object, [
      "options",
      write,
    ]),
    method(
      client,
      "patch",
      "rejects",
      [ConfigMap, "a/b", {}, {}],
      resourceDoor,
      unchecked,
      ["patch", isObject],
      ["options", write],
    ),
    method(client, "apply", "rejects", [ConfigMap, ANN, {}], resourceDoor, object, [
      "options",
      kinds.all(write, kinds.fields({ force: kinds.flag, owned: kinds.flag })),
    ]),
    method(
      client,
      "modify",
      "rejects",
      [ConfigMap, "a/b", () => {}, {}],
      resourceDoor,
      unchecked,
      ["change", kinds.func],
      ["options", write],
    ),
    method(client, "upgradeToApply", "rejects", [ConfigMap, "a/b", {}], resourceDoor, unchecked, [
      "options",
      kinds.object<KubeUpgradeOptions>({
        ...limits,
        fieldManager: manager,
        dryRun: kinds.flag,
        fieldValidation: validation,
        from: kinds.all(
          kinds.arrayOf(kinds.text),
          kinds.except(
            [],
            "RangeError: options.from must have at least one field manager, got an empty array",
          ),
        ),
      }),
    ]),
    method(client, "delete", "rejects", [ConfigMap, "a/b", {}], resourceDoor, unchecked, [
      "options",
      kinds.object({
        ...limits,
        propagation,
        gracePeriodSeconds: seconds,
        uid: kinds.text,
        resourceVersion: kinds.text,
        dryRun: kinds.flag,
      }),
    ]),
    method(client, "deleteCollection", "rejects", [ConfigMap, {}], resourceDoor, [
      "options",
      kinds.object({
        ...limits,
        namespace: kinds.unchecked,
        labels: kinds.unchecked,
        fields: kinds.unchecked,
        propagation,
        gracePeriodSeconds: seconds,
        dryRun: kinds.flag,
      }),
    ]),
    method(
      client,
      "request",
      "rejects",
      [{ path: "/version" }],
      [
        "options",
        kinds.object({
          ...limits,
          path: kinds.all(
            kinds.required(kinds.text),
            ...["version", "/a?b=c", "/a#b", "/a/../b", "/a/%2e%2E", "/ä", "/a b", "/a\\b"].map(
              (value) =>
                kinds.except(
                  value,
                  `RangeError: options.path must begin with "/", encoded, without a query and without the segments "." and "..", got ${JSON.stringify(value)}`,
                ),
            ),
          ),
          method: kinds.except(
            "get",
            'RangeError: options.method must be "GET", "POST", "PUT", "PATCH", "DELETE", got "get"',
          ),
          query: kinds.anyObject,
          contentType: kinds.text,
        }),
      ],
    ),
    kinds.rejects(
      ensureCrd,
      [client, crd, {}],
      ["client", kinds.methods("find", "create", "modify", "list")],
      ["crd", kinds.named("crd", isObject)],
      ["options", kinds.object(limits)],
    ),
  ],
  () => expect(requests).toEqual([]),
);

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
  const calls = {
    create: () => client.create(Partial, ANN),
    update: () => client.update(Partial, stored),
    patch: () => client.patch(Partial, "a/b", {}),
    apply: () => client.apply(Partial, ANN),
    modify: () => client.modify(Partial, "a/b", () => {}),
    upgradeToApply: () => client.upgradeToApply(Partial, "a/b"),
    delete: () => client.delete(Partial, "a/b"),
    deleteCollection: () => client.deleteCollection(Partial),
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
