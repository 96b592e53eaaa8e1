import { builtIn, customResource, fromCrd, type KubeObject, keyOf } from "@holdfast/kubernetes";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText } from "../../../../test/any-text.ts";
import { collectionPath, objectPath } from "../../src/object/resource-path.ts";
import { compareVersions } from "../../src/object/resource-version.ts";
import { formatFields, formatLabels, matchesLabels } from "../../src/object/selector.ts";

const Greeting = customResource<KubeObject>({
  apiVersion: "example.org/v1",
  kind: "Greeting",
  plural: "greetings",
});
const Namespace = builtIn<KubeObject>("v1", "Namespace");
const Deployment = builtIn<KubeObject>("apps/v1", "Deployment");

describe("paths", () => {
  it.each([
    [collectionPath(Greeting), "/apis/example.org/v1/greetings"],
    [collectionPath(Greeting, "default"), "/apis/example.org/v1/namespaces/default/greetings"],
    [collectionPath(Namespace), "/api/v1/namespaces"],
    [objectPath(Namespace, "kube-system"), "/api/v1/namespaces/kube-system"],
    [objectPath(Namespace, { name: "a", namespace: "" }), "/api/v1/namespaces/a"],
    [objectPath(Deployment, "default/web"), "/apis/apps/v1/namespaces/default/deployments/web"],
    [
      objectPath(Deployment, { name: "web", namespace: "default" }, "status"),
      "/apis/apps/v1/namespaces/default/deployments/web/status",
    ],
    [
      objectPath(Greeting, "default/system:x y"),
      "/apis/example.org/v1/namespaces/default/greetings/system%3Ax%20y",
    ],
  ])("are %s", (path, expected) => expect(path).toBe(expected));

  it("have one segment for any name and namespace, or throw a RangeError or TypeError", () => {
    fc.assert(
      fc.property(anyText(), fc.string(), (name, namespace) => {
        try {
          const path = objectPath(Greeting, { name, namespace });
          const url = new URL(path, "http://127.0.0.1");
          expect(url.pathname.split("/")).toHaveLength(8);
          expect(decodeURIComponent(url.pathname.split("/")[7] as string)).toBe(name);
        } catch (error) {
          expect(error).toSatisfy((one) => one instanceof RangeError || one instanceof TypeError);
        }
      }),
    );
  });

  it.each([
    "default/..",
    "default/.",
    "default/a/b",
    "default/a%2fb",
    "../x",
    "default/",
    "/x",
    "x",
  ])("refuse the reference %j", (ref) =>
    expect(() => objectPath(Greeting, ref)).toThrow(/^(name|namespace|a Greeting)\b/),
  );

  it("refuse a namespace for a resource of cluster scope", () => {
    expect(() => objectPath(Namespace, "a/b")).toThrow(
      'a Namespace is cluster-scoped: ref must be "name"',
    );
    expect(() => collectionPath(Namespace, "a")).toThrow(
      "namespace must be left out for a Namespace",
    );
  });
});

describe("selectors", () => {
  it.each([
    [
      { app: "greeter", tier: ["web", "api"], legacy: false, "example.org/x": true },
      "app=greeter,example.org/x,!legacy,tier in (api,web)",
    ],
    [{ empty: "" }, "empty="],
    [
      { app: { not: "a" }, tier: { not: ["web", "api"] }, empty: { not: "" } },
      "app!=a,empty!=,tier notin (api,web)",
    ],
  ])("format labels %j", (labels, expected) => expect(formatLabels(labels)).toBe(expected));

  it.each([
    { app: "x,env=prod" },
    { "app=x,env": "y" },
    { app: ["a)", "b"] },
    { app: [] },
    { "a/b/c": "x" },
    { app: 1 },
    { app: { not: [] } },
    { app: { not: true } },
    { app: { not: "a,b" } },
    { app: { not: "a", in: "b" } },
    { app: { not: { not: "a" } } },
    { app: {} },
    { app: null },
  ])("refuse the labels %j", (labels) =>
    expect(() => formatLabels(labels as never)).toThrow(/^labels/),
  );

  it("escape the value of a field", () => {
    expect(formatFields({ "metadata.name": "a,b=c\\d" })).toBe("metadata.name=a\\,b\\=c\\\\d");
    expect(formatFields({ "a.b": { not: "c=d" }, c: "" })).toBe("a.b!=c\\=d,c=");
    expect(() => formatFields({ "a=b": "c" })).toThrow("fields must have names");
    expect(() => formatFields({ a: { not: 1 } } as never)).toThrow('fields["a"] must be a string');
  });

  it.each([
    [{ app: "a" }, { app: "a" }, true],
    [{ app: "a" }, { app: "b" }, false],
    [{ app: "a" }, undefined, false],
    [{ app: ["a", "b"] }, { app: "b" }, true],
    [{ app: ["a", "b"] }, {}, false],
    [{ app: true }, { app: "" }, true],
    [{ app: true }, {}, false],
    [{ app: false }, {}, true],
    [{ app: { not: "a" } }, { app: "a" }, false],
    [{ app: { not: "a" } }, { app: "b" }, true],
    [{ app: { not: "a" } }, {}, true],
    [{ app: { not: ["a", "b"] } }, { app: "b" }, false],
    [{ app: { not: ["a", "b"] } }, { app: "c" }, true],
    [{ app: { not: ["a", "b"] } }, undefined, true],
    [{ app: false }, { app: "" }, false],
    [{ constructor: true }, {}, false],
  ])("%j matches %j: %j", (selector, labels, expected) =>
    expect(matchesLabels(selector, labels as never)).toBe(expected),
  );
});

describe("versions", () => {
  it.each([
    ["9", "10", -1],
    ["10", "9", 1],
    ["123456789012345678901", "123456789012345678902", -1],
    ["7", "7", 0],
    ["a", "7", undefined],
    ["7", "07", undefined],
    ["", "", undefined],
  ])("compare %j with %j", (a, b, expected) => {
    const order = compareVersions(a, b);
    expect(order === undefined ? undefined : Math.sign(order)).toBe(expected);
  });
});

describe("resources", () => {
  it.each([
    ["networking.k8s.io/v1", "Ingress", "ingresses", "Namespaced"],
    ["networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", "Namespaced"],
    ["v1", "Endpoints", "endpoints", "Namespaced"],
    ["rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", "Cluster"],
  ])("of %s: %s is %s", (apiVersion, kind, plural, scope) =>
    expect(builtIn(apiVersion, kind)).toMatchObject({ apiVersion, kind, plural, scope }),
  );

  it.each([
    ["v1", "Deployment"],
    ["apps/v1", ""],
    ["apps/v1", "deployment"],
    ["constructor", "name"],
  ])("are not built in: %s %s", (apiVersion, kind) =>
    expect(() => builtIn(apiVersion, kind)).toThrow(/^(apiVersion|kind)\b/),
  );

  it.each([
    [
      { apiVersion: "v1", kind: "A", plural: "as" },
      'apiVersion of a custom resource must have a group, as in "example.org/v1", got "v1"',
    ],
    [{ apiVersion: "a/b/v1", kind: "A", plural: "as" }, "apiVersion must be"],
    [{ apiVersion: "../v1", kind: "A", plural: "as" }, "apiVersion must be"],
    [{ apiVersion: "e.org/V1", kind: "A", plural: "as" }, "apiVersion must be"],
    [{ apiVersion: "e.org/1v", kind: "A", plural: "as" }, "apiVersion must be"],
    [{ apiVersion: "e.org/v1-", kind: "A", plural: "as" }, "apiVersion must be"],
    [{ apiVersion: "e.org/v1", kind: "1a", plural: "as" }, "kind must be"],
    [{ apiVersion: "e.org/v1", kind: "a_b", plural: "as" }, "kind must be"],
    [{ apiVersion: "e.org/v1", kind: "a".repeat(64), plural: "as" }, "kind must be"],
    [{ apiVersion: "e.org/v1", kind: "A", plural: "a/s" }, "plural must be"],
    [{ apiVersion: "e.org/v1", kind: "A", plural: "as", scope: "Global" }, "scope must be"],
  ])("refuse %j", (options, message) =>
    expect(() => customResource(options as never)).toThrow(message),
  );

  // A server serves each of them.
  it.each([
    ["v1", "postgresql"],
    ["v1", "OAuth2client"],
    ["v1", "K8sThing"],
    ["v1", "foo-bar"],
    ["v1api20231001", "A"],
    ["v1beta20210101preview", "A"],
    ["stable", "A"],
    ["v1", "K".repeat(63)],
  ])("of version %s have the kind %s", (version, kind) => {
    const apiVersion = `example.org/${version}`;
    expect(customResource({ apiVersion, kind, plural: "as" })).toMatchObject({ apiVersion, kind });
  });

  const crd = (more: object = {}) => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    spec: {
      group: "example.org",
      scope: "Cluster",
      names: { kind: "Zone", plural: "zones" },
      versions: [
        { name: "v1alpha1", served: true, storage: false },
        { name: "v1", served: true, storage: true },
        { name: "v0", served: false, storage: false },
      ],
      ...more,
    },
  });

  it("come from a manifest, in its stored version or another served one", () => {
    const manifest = crd();
    expect(fromCrd(manifest)).toMatchObject({
      apiVersion: "example.org/v1",
      scope: "Cluster",
      crd: manifest,
    });
    expect(fromCrd(manifest, "v1alpha1").version).toBe("v1alpha1");
    expect(() => fromCrd(manifest, "v0")).toThrow(
      'version must be one that the crd serves (v1alpha1, v1), got "v0"',
    );
  });

  it.each([
    [null, "crd must be"],
    [
      { kind: "Deployment", apiVersion: "apps/v1" },
      'crd must be a CustomResourceDefinition of apiextensions.k8s.io/v1, got kind "Deployment" of "apps/v1"',
    ],
    [{ ...crd(), spec: undefined }, "crd must have spec.versions"],
    [crd({ group: undefined }), "spec.group of crd must be"],
    [crd({ names: undefined }), "kind must be"],
    [crd({ versions: [] }), "it serves none"],
  ])("refuse a manifest %#", (manifest, message) =>
    expect(() => fromCrd(manifest as never)).toThrow(message),
  );
});

describe("keys", () => {
  it("name an object by namespace and name", () => {
    expect(keyOf({ metadata: { namespace: "a", name: "b" } })).toBe("a/b");
    expect(keyOf({ metadata: { namespace: "", name: "b" } })).toBe("b");
    expect(() => keyOf({})).toThrow("metadata.name of an object must be set");
    expect(() => keyOf({ metadata: {} })).toThrow(
      "metadata.name of an object must be set, got none",
    );
  });
});
