import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import {
  builtIn,
  customResource,
  fromCrd,
  isApiError,
  KubeClient,
  type KubeObject,
} from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { crdOf } from "../../../../test/crd.ts";
import { errorOf } from "../../../../test/error-of.ts";
import { type Step, scriptedTransport } from "./scripted-transport.ts";

interface Scale extends KubeObject {
  spec?: { replicas?: number };
}
interface Eviction extends KubeObject {
  deleteOptions?: object;
}
interface TokenRequest extends KubeObject {
  spec?: { audiences: string[] };
  status?: { token: string };
}
interface Review extends KubeObject {
  spec?: object;
  status?: { allowed?: boolean };
}
const WidgetScale = customResource<Scale>({
  apiVersion: "example.org/v1",
  kind: "Widget",
  plural: "widgets",
});
const PodEviction = builtIn<Eviction>("v1", "Pod");
const ServiceAccountToken = builtIn<TokenRequest>("v1", "ServiceAccount");
const ANN = { namespace: "default", name: "ann" };
const SCALE = {
  kind: "Scale",
  apiVersion: "autoscaling/v1",
  metadata: { ...ANN, uid: "1", resourceVersion: "7" },
  spec: { replicas: 1 },
};

function scripted(...steps: readonly Step[]) {
  const clock = new FakeClock();
  const { transport, requests } = scriptedTransport(...steps);
  const sent = () =>
    requests.map(({ method, path, body }) => [method, path, body && JSON.parse(body)]);
  return { clock, sent, requests, client: new KubeClient({ transport, clock }) };
}

const PATH = "/apis/example.org/v1/namespaces/default/widgets/ann/scale";

describe("the body of a subresource other than the status", () => {
  const scale = { subresource: "scale" } as const;

  it("may be answered by a success without metadata", async () => {
    const success = { kind: "Status", apiVersion: "v1", status: "Success" };
    const { client } = scripted({ body: success });
    const given = { metadata: ANN, spec: { replicas: 3 } };
    expect(await client.apply(WidgetScale, given, scale)).toEqual(success);
  });

  it("is sent as given, and returned as received, by every call", async () => {
    const given = { ...SCALE, spec: { replicas: 3 } };
    const { client, clock, sent } = scripted({ body: SCALE });
    await client.create(WidgetScale, given, scale);
    await client.update(WidgetScale, given, scale);
    await client.apply(WidgetScale, given, scale);
    await client.patch(WidgetScale, ANN, { spec: { replicas: 3 } }, scale);
    const change = (object: Scale): unknown => (object.spec = { replicas: 3 });
    const modified = await clock.run(() => client.modify(WidgetScale, ANN, change, scale));
    expect(modified).toEqual(SCALE);
    expect(await client.get(WidgetScale, ANN, scale)).toEqual(SCALE);
    const query = "?fieldManager=holdfast";
    expect(sent()).toEqual([
      ["POST", `${PATH}${query}`, given],
      ["PUT", `${PATH}${query}`, given],
      ["PATCH", `${PATH}${query}&force=true`, given],
      ["PATCH", `${PATH}${query}`, { spec: { replicas: 3 } }],
      ["GET", PATH, undefined],
      ["PUT", `${PATH}${query}`, given],
      ["GET", PATH, undefined],
    ]);
  });

  it("needs no version, which the server does not ask for", async () => {
    const { client, sent } = scripted({ body: SCALE });
    const { resourceVersion: _, ...metadata } = SCALE.metadata;
    await client.update(WidgetScale, { ...SCALE, metadata } as never, scale);
    expect(sent()).toEqual([["PUT", `${PATH}?fieldManager=holdfast`, { ...SCALE, metadata }]]);
  });

  it("is answered with a Status of success by an eviction", async () => {
    const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
    const { client, sent } = scripted({ status: 201, body: status });
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: ANN };
    expect(await client.create(PodEviction, eviction, { subresource: "eviction" })).toEqual(status);
    const path = "/api/v1/namespaces/default/pods/ann/eviction?fieldManager=holdfast";
    expect(sent()).toEqual([["POST", path, eviction]]);
  });

  it("is answered with a token", async () => {
    const request = {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      metadata: ANN,
      spec: { audiences: ["x"] },
    };
    const { client } = scripted({ body: { ...request, status: { token: "t" } } });
    const made = await client.create(ServiceAccountToken, request, { subresource: "token" });
    expect(made.status).toEqual({ token: "t" });
  });

  it("scales a custom resource", async () => {
    const { api, clock, client } = world();
    await api.client.create(Widget, { metadata: ANN, spec: { size: 1 } });
    const change = (object: Scale): unknown => (object.spec = { replicas: 4 });
    await clock.run(() => client.modify(WidgetScale, ANN, change, scale));
    expect((await client.get(Widget, ANN)).spec).toEqual({ size: 4 });
    const read = await client.get(WidgetScale, ANN, scale);
    await client.update(WidgetScale, { ...read, spec: { replicas: 5 } }, scale);
    expect((await client.get(Widget, ANN)).spec).toEqual({ size: 5 });
  });
});

const open = { "x-kubernetes-preserve-unknown-fields": true };

interface WidgetObject extends KubeObject {
  spec: { size: number };
}
const Widget = fromCrd<WidgetObject>(
  crdOf({
    kind: "Widget",
    root: open,
    version: {
      subresources: {
        scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" },
      },
    },
  }),
);
const Plain = fromCrd<KubeObject & { status?: object }>(crdOf({ kind: "Plain", root: open }));
const Pod = builtIn<KubeObject>("v1", "Pod");
const ConfigMap = builtIn<KubeObject>("v1", "ConfigMap");
const TokenReview = builtIn<Review>("authentication.k8s.io/v1", "TokenReview");

function world() {
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [Widget, Plain, ConfigMap, Pod, TokenReview] });
  const client = new KubeClient({ transport: api.transport, clock });
  return { api, clock, client };
}

describe("a subresource that the kind lacks", () => {
  const status = { subresource: "status" } as const;
  const calls: [name: string, call: (client: KubeClient) => Promise<unknown>][] = [
    ["get", (client) => client.get(Plain, ANN, status)],
    ["find", (client) => client.find(Plain, ANN, status)],
    ["apply", (client) => client.apply(Plain, { metadata: ANN, status: {} }, status)],
    ["patch", (client) => client.patch(Plain, ANN, { status: {} }, status)],
    ["modify", (client) => client.modify(Plain, ANN, (one) => (one.status = { a: 1 }), status)],
  ];

  it.each(calls)("is named by the error of %s, which is not NotFound", async (_, call) => {
    const { api, client, clock } = world();
    await api.client.create(Plain, { metadata: ANN });
    const error = await errorOf(clock.run(() => call(client)));
    expect(isApiError(error, "NotFound")).toBe(false);
    expect(error).toMatchObject({ status: 404 });
    expect(String(error)).toContain(
      'the server has no subresource "status" of Plain of example.org/v1; of a custom resource, check "subresources" in its CustomResourceDefinition',
    );
  });

  it("is named for a built-in resource too", async () => {
    const { client } = world();
    const error = await errorOf(client.find(ConfigMap, ANN, status));
    expect(String(error)).toContain('no subresource "status" of ConfigMap of v1');
  });

  it("is not blamed if the object is missing", async () => {
    const { client } = world();
    expect(await client.find(WidgetScale, ANN, { subresource: "scale" })).toBeUndefined();
    const patch = client.patch(WidgetScale, ANN, {}, { subresource: "scale" });
    expect(isApiError(await errorOf(patch), "NotFound")).toBe(true);
  });

  it("is not blamed without the list of resources, and costs no right", async () => {
    const { client, requests } = scripted(
      { status: 404, body: { kind: "Status", reason: "NotFound", message: "no" } },
      { status: 403, body: { kind: "Status", reason: "Forbidden", message: "no" } },
    );
    const error = await errorOf(client.patch(Plain, ANN, {}, status));
    expect(isApiError(error, "NotFound")).toBe(true);
    expect(requests.map(({ path }) => path)).toEqual([
      "/apis/example.org/v1/namespaces/default/plains/ann/status?fieldManager=holdfast",
      "/apis/example.org/v1",
    ]);
  });

  it("is 501 if Kubernetes has it, and FakeApi does not", async () => {
    const { client } = world();
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: ANN };
    const error = await errorOf(client.create(PodEviction, eviction, { subresource: "eviction" }));
    expect(error).toMatchObject({ status: 501, reason: "NotImplemented" });
    const review = client.create(TokenReview, { spec: { token: "t" } });
    expect(await errorOf(review)).toMatchObject({ status: 501 });
  });
});

describe("an object without a name", () => {
  it("is created, and answered", async () => {
    const kinds = [
      ["authorization.k8s.io", "SelfSubjectAccessReview"],
      ["authorization.k8s.io", "SubjectAccessReview"],
      ["authentication.k8s.io", "TokenReview"],
      ["authentication.k8s.io", "SelfSubjectReview"],
    ] as const;
    for (const [group, kind] of kinds) {
      const apiVersion = `${group}/v1`;
      const answer = { apiVersion, kind, metadata: {}, status: { allowed: true } };
      const { client, sent } = scripted({ status: 201, body: answer });
      const spec = { token: "t" };
      const made = await client.create(builtIn<Review>(apiVersion, kind), { spec });
      expect(made.status).toEqual({ allowed: true });
      const path = `/apis/${apiVersion}/${kind.toLowerCase()}s?fieldManager=holdfast`;
      expect(sent()).toEqual([["POST", path, { apiVersion, kind, spec }]]);
    }
  });

  it("keeps its namespace", async () => {
    const apiVersion = "authorization.k8s.io/v1";
    const kind = "LocalSubjectAccessReview";
    const { client, sent } = scripted({ body: { apiVersion, kind } });
    const metadata = { namespace: "blue" };
    await client.create(builtIn<Review>(apiVersion, kind), { metadata });
    expect(sent()[0]?.[1]).toBe(
      `/apis/${apiVersion}/namespaces/blue/localsubjectaccessreviews?fieldManager=holdfast`,
    );
  });

  it("is answered with an object of its kind", async () => {
    const { client } = scripted({ body: {} });
    const error = await errorOf(client.create(TokenReview, { spec: {} }));
    expect(String(error)).toContain("the response is not a TokenReview");
  });
});

describe("request", () => {
  it("sends any request, and returns JSON parsed and other types as text", async () => {
    const { client, requests } = scripted(
      { headers: { "content-type": "application/json" }, body: { gitVersion: "v1" } },
      { headers: { "content-type": "text/plain" }, body: "ok" },
      { headers: { "content-type": "application/json; charset=utf-8" }, body: "[1]" },
    );
    expect(await client.request({ path: "/version" })).toEqual({ gitVersion: "v1" });
    expect(await client.request({ path: "/healthz", query: { verbose: true, a: undefined } })).toBe(
      "ok",
    );
    const body = { a: 1 };
    const contentType = "application/merge-patch+json";
    expect(await client.request({ path: "/x", method: "PATCH", body, contentType })).toEqual([1]);
    expect(requests).toEqual([
      { method: "GET", path: "/version", headers: { accept: "application/json, */*" } },
      {
        method: "GET",
        path: "/healthz?verbose=true",
        headers: { accept: "application/json, */*" },
      },
      {
        method: "PATCH",
        path: "/x",
        headers: { accept: "application/json, */*", "content-type": contentType },
        body: '{"a":1}',
      },
    ]);
  });

  it("rejects with an ApiError for a refusal, and for JSON that is none", async () => {
    const json = { "content-type": "application/json" };
    const { client } = scripted(
      { status: 403, body: { kind: "Status", reason: "Forbidden", message: "no" } },
      { headers: json, body: "{" },
    );
    expect(isApiError(await errorOf(client.request({ path: "/x" })), "Forbidden")).toBe(true);
    const error = await errorOf(client.request({ path: "/x" }));
    expect(String(error)).toContain("GET /x: 200: the response is not JSON");
  });

  it("stops at once when it is aborted", async () => {
    const { client, clock } = scripted("silence");
    const stop = new AbortController();
    const pending = errorOf(client.request({ path: "/x", signal: stop.signal }));
    stop.abort(new Error("enough"));
    expect(await pending).toBe(stop.signal.reason);
    expect(clock.waiters()).toBe(0);
  });
});
