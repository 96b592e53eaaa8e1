import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import {
  builtIn,
  customResource,
  isApiError,
  KubeClient,
  type KubeObject,
  type KubeRequest,
  type KubeResponse,
  ownerReference,
} from "@holdfast/kubernetes";
import { isTimeoutError } from "@holdfast/wait";
import { isConflict } from "@holdfast/wait/go";
import type {
  ConfigMap as ConfigMapObject,
  Secret as SecretObject,
} from "kubernetes-types/core/v1.js";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { errorOf } from "../../../../test/error-of.ts";
import type { ClientWrite } from "../../src/client/client-write.ts";
import { SECRET_DATA, safeErrorOf } from "../secrets.ts";
import { type Step, scriptedTransport } from "./scripted-transport.ts";

interface GreetingObject extends KubeObject {
  spec?: { name: string };
  status?: { text: string };
}
const Greeting = customResource<GreetingObject>({
  apiVersion: "example.org/v1",
  kind: "Greeting",
  plural: "greetings",
});
const ConfigMap = builtIn<ConfigMapObject>("v1", "ConfigMap");
const Namespace = builtIn<KubeObject>("v1", "Namespace");
const Secret = builtIn<SecretObject>("v1", "Secret");
const ANN = { namespace: "default", name: "ann" };
const LABELS = { labels: { app: "greeter" } };

/** A client on the double, and the order in which writes were told and calls have resolved. */
function world() {
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [Greeting, ConfigMap, Namespace, Secret] });
  const writes: ClientWrite[] = [];
  const order: string[] = [];
  const onWrite = (write: ClientWrite): void => {
    writes.push(write);
    order.push("write");
  };
  // The hooks are for this package: no declaration has them.
  const args = [{ transport: api.transport, clock }, { onWrite }];
  const client = Reflect.construct(KubeClient, args) as KubeClient;
  return { api, clock, client, writes, order };
}

/** A client on a script, which shows what was sent. */
function scripted(...steps: readonly Step[]) {
  const clock = new FakeClock();
  const { transport, requests } = scriptedTransport(...steps);
  return { clock, requests, client: new KubeClient({ transport, clock }) };
}

describe("a response that is not the object", () => {
  const bodies: [name: string, body: unknown, error: string][] = [
    ["an array", [], "the response is not a ConfigMap: is script an API server?"],
    ["an empty object", {}, "the response is not a ConfigMap: is script an API server?"],
    [
      "a list",
      { kind: "ConfigMapList", apiVersion: "v1", metadata: {}, items: [] },
      "the response is not a ConfigMap but a ConfigMapList",
    ],
    [
      "a failure",
      { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: "no" },
      "the response is not a ConfigMap but a Status",
    ],
    [
      "an object of another kind",
      { kind: "Secret", apiVersion: "v1", metadata: { ...ANN, uid: "1", resourceVersion: "1" } },
      "the response is not a ConfigMap but a Secret",
    ],
  ];

  it.each(bodies)("is an error of every call for an object: %s", async (_, body, message) => {
    const calls = [
      (client: KubeClient) => client.get(ConfigMap, "default/ann"),
      (client: KubeClient) => client.find(ConfigMap, "default/ann"),
      (client: KubeClient) => client.modify(ConfigMap, "default/ann", () => {}),
      (client: KubeClient) => client.create(ConfigMap, { metadata: ANN }),
      (client: KubeClient) =>
        client.update(ConfigMap, { metadata: { ...ANN, resourceVersion: "1" } }),
      (client: KubeClient) => client.patch(ConfigMap, "default/ann", {}),
      (client: KubeClient) => client.apply(ConfigMap, { metadata: ANN }),
    ];
    for (const call of calls) {
      const { client } = scripted({ body });
      const error = await safeErrorOf(call(client));
      expect(isApiError(error)).toBe(true);
      expect(String(error)).toContain(message);
    }
  });

  it("is not named if its kind is no text", async () => {
    const { client } = scripted({ body: { kind: ["token"], metadata: { name: "ann" } } });
    const error = await safeErrorOf(client.get(ConfigMap, "default/ann"));
    expect(error.message).toContain("the response is not a ConfigMap: is script an API server?");
  });

  it("is an error of a status, too: that subresource has the kind of its object", async () => {
    const { client } = scripted({ body: { kind: "Scale", apiVersion: "autoscaling/v1" } });
    const patch = client.patch(Greeting, ANN, {}, { subresource: "status" });
    expect((await safeErrorOf(patch)).message).toContain("is not a Greeting but a Scale");
  });

  it.each([
    ["null", null],
    ["no metadata", {}],
    ["text", "ann"],
  ])("is an error of list: an item that is %s", async (_, item) => {
    const body = { kind: "ConfigMapList", apiVersion: "v1", metadata: {}, items: [item] };
    const { client } = scripted({ body });
    const error = await errorOf(client.list(ConfigMap).next());
    expect(error).toEqual(
      new TypeError("the list GET /api/v1/configmaps has an item that is not an object"),
    );
  });
});

describe("a lone surrogate", () => {
  const lone = "a\ud800";
  const calls: [name: string, call: (client: KubeClient) => Promise<unknown>][] = [
    ["name", (client) => client.get(ConfigMap, `default/${lone}`)],
    ["subresource", (client) => client.get(ConfigMap, ANN, { subresource: lone })],
    [
      'fields["metadata.name"]',
      async (client) => await client.list(ConfigMap, { fields: { "metadata.name": lone } }).next(),
    ],
    [
      "options.fieldManager",
      (client) => client.create(ConfigMap, { metadata: ANN }, { fieldManager: lone }),
    ],
  ];

  it.each(calls)("is a RangeError in %s", async (name, call) => {
    const { client } = world();
    const error = await errorOf((async () => await call(client))());
    expect(error).toBeInstanceOf(RangeError);
    expect(String(error)).toContain(`${name} must`);
  });
});

describe("get and find", () => {
  it("return an object with apiVersion and kind", async () => {
    const { client } = world();
    const created = await client.create(ConfigMap, { metadata: ANN, data: { a: "1" } });
    expect(await client.get(ConfigMap, "default/ann")).toEqual(created);
    expect(await client.find(ConfigMap, ANN)).toEqual(created);
    expect(created).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { a: "1" } });
  });

  it("differ for a missing object", async () => {
    const { client } = world();
    expect(await client.find(ConfigMap, "default/ann")).toBeUndefined();
    const error = await safeErrorOf(client.get(ConfigMap, "default/ann"));
    expect(isApiError(error, "NotFound")).toBe(true);
  });

  it("reject both for a resource that the server does not know", async () => {
    const { client } = scripted({ status: 404, body: "404 page not found\n" });
    expect((await safeErrorOf(client.find(Greeting, "default/ann"))).message).toBe(
      "GET /apis/example.org/v1/namespaces/default/greetings/ann: 404: 404 page not found: the server does not serve greetings of example.org/v1; check that the CustomResourceDefinition greetings.example.org is applied and serves v1",
    );
  });

  it("give no advice about definitions for a kind of the core group", async () => {
    const { client } = scripted({ status: 404, body: "404 page not found\n" });
    expect((await safeErrorOf(client.find(ConfigMap, "default/ann"))).message).toBe(
      "GET /api/v1/namespaces/default/configmaps/ann: 404: 404 page not found",
    );
  });

  it("read a subresource, whose kind stays", async () => {
    const { client, requests } = scripted({
      body: { kind: "Scale", apiVersion: "autoscaling/v1" },
    });
    const scale = await client.get(Greeting, "default/ann", { subresource: "scale" });
    expect(scale).toMatchObject({ kind: "Scale", apiVersion: "autoscaling/v1" });
    expect(requests[0]?.path).toMatch(/\/greetings\/ann\/scale$/);
  });
});

describe("list", () => {
  it("sets apiVersion and kind on every object, page by page", async () => {
    const { client, api } = world();
    for (const name of ["a", "b", "c", "d", "e"])
      await client.create(ConfigMap, { metadata: { name, namespace: "default" } });
    const sent: string[] = [];
    const counting = new KubeClient({
      transport: {
        description: "counted",
        send: (request, signal) => {
          sent.push(request.path);
          return api.transport.send(request, signal);
        },
      },
    });
    const list = counting.list(ConfigMap, { namespace: "default", pageSize: 2 });
    const names: string[] = [];
    for await (const { metadata, kind, apiVersion } of list) {
      names.push(`${apiVersion} ${kind} ${metadata.name}`);
      if (names.length === 2) expect(sent).toHaveLength(1);
    }
    expect(names).toEqual(["a", "b", "c", "d", "e"].map((name) => `v1 ConfigMap ${name}`));
    expect(sent).toHaveLength(3);
  });

  it("selects by labels and fields", async () => {
    const { client } = world();
    await client.create(ConfigMap, { metadata: { ...ANN, ...LABELS } });
    await client.create(ConfigMap, { metadata: { ...ANN, name: "bob", ...LABELS } });
    await client.create(ConfigMap, { metadata: { ...ANN, name: "eve" } });
    const names = async (options: Parameters<typeof client.list>[1]) => {
      const found: string[] = [];
      for await (const { metadata } of client.list(ConfigMap, options)) found.push(metadata.name);
      return found;
    };
    expect(await names(LABELS)).toEqual(["ann", "bob"]);
    expect(await names({ ...LABELS, fields: { "metadata.name": "bob" } })).toEqual(["bob"]);
    expect(await names({ namespace: "other" })).toEqual([]);
  });

  it("requests gzip, and only the first page if the caller stops there", async () => {
    const { client, requests } = scripted({
      body: { items: [{ metadata: { name: "a", uid: "1" } }], metadata: { continue: "x" } },
    });
    for await (const { kind } of client.list(ConfigMap, LABELS)) {
      expect(kind).toBe("ConfigMap");
      break;
    }
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      path: "/api/v1/configmaps?labelSelector=app%3Dgreeter&limit=500",
      headers: { "accept-encoding": "gzip" },
    });
  });
});

describe("writes", () => {
  it("create an object, and name the field manager", async () => {
    const { client, requests } = scripted({ status: 201 });
    await client.create(ConfigMap, { metadata: ANN, data: { a: "1" } });
    await client.create(
      Namespace,
      { metadata: { generateName: "x-" } },
      { dryRun: true, fieldManager: "me" },
    );
    expect(requests).toEqual([
      {
        method: "POST",
        path: "/api/v1/namespaces/default/configmaps?fieldManager=holdfast",
        headers: { accept: "application/json", "content-type": "application/json" },
        body: '{"metadata":{"namespace":"default","name":"ann"},"data":{"a":"1"},"apiVersion":"v1","kind":"ConfigMap"}',
      },
      expect.objectContaining({ path: "/api/v1/namespaces?fieldManager=me&dryRun=All" }),
    ]);
  });

  it("reject an existing object with AlreadyExists, which is not a conflict", async () => {
    const { client } = world();
    await client.create(ConfigMap, { metadata: ANN });
    const error = await safeErrorOf(client.create(ConfigMap, { metadata: ANN }));
    expect(isApiError(error, "AlreadyExists")).toBe(true);
    expect(isConflict(error)).toBe(false);
  });

  it("update an object in the version it was read with", async () => {
    const { client } = world();
    const first = await client.create(ConfigMap, { metadata: ANN, data: { a: "1" } });
    const second = await client.update(ConfigMap, { ...first, data: { a: "2" } });
    expect(second.data).toEqual({ a: "2" });
    const error = await safeErrorOf(client.update(ConfigMap, { ...first, data: { a: "3" } }));
    expect(isApiError(error, "Conflict")).toBe(true);
    expect(isConflict(error)).toBe(true);
  });

  it("patch by merge, and by operations", async () => {
    const { client } = world();
    await client.create(ConfigMap, { metadata: ANN, data: { a: "1", b: "1" } });
    expect((await client.patch(ConfigMap, ANN, { data: { a: null, c: "2" } })).data).toEqual({
      b: "1",
      c: "2",
    });
    const operations = [
      { op: "test", path: "/data/b", value: "1" },
      { op: "remove", path: "/data/b" },
    ] as const;
    expect((await client.patch(ConfigMap, ANN, operations)).data).toEqual({ c: "2" });
    expect(await safeErrorOf(client.patch(ConfigMap, ANN, operations))).toMatchObject({
      status: 422,
      reason: "Invalid",
    });
  });

  it("apply fields with force by default, to a subresource too", async () => {
    const { client, requests } = scripted({ body: { metadata: { ...ANN, uid: "u" } } });
    await client.apply(ConfigMap, { metadata: ANN, data: { a: "1" } });
    const status = { metadata: ANN, status: { text: "x" } };
    await client.apply(Greeting, status, { force: false, subresource: "status" });
    expect(requests).toMatchObject([
      {
        method: "PATCH",
        path: "/api/v1/namespaces/default/configmaps/ann?fieldManager=holdfast&force=true",
        headers: { "content-type": "application/apply-patch+yaml" },
        body: '{"metadata":{"namespace":"default","name":"ann"},"data":{"a":"1"},"apiVersion":"v1","kind":"ConfigMap"}',
      },
      { path: expect.stringMatching(/\/ann\/status\?fieldManager=holdfast&force=false$/) },
    ]);
  });

  it("apply an object that was read", async () => {
    const { client, api } = world();
    await client.create(ConfigMap, { metadata: ANN, data: { a: "1" } });
    const read = await client.get(ConfigMap, ANN);
    expect(read.metadata).toHaveProperty("managedFields");
    expect((await client.apply(ConfigMap, { ...read, data: { a: "2" } })).data).toEqual({ a: "2" });
    expect(read.metadata).toHaveProperty("managedFields");
    await api.client.create(Greeting, { metadata: ANN, spec: { name: "Ann" } });
    const greeting = await client.get(Greeting, ANN);
    await client.apply(Greeting, greeting, { subresource: "status" });
  });

  it("apply fields that another manager owns, unless force is off", async () => {
    const { client } = world();
    const other = { fieldManager: "other" };
    await client.apply(ConfigMap, { metadata: ANN, data: { a: "1" } }, other);
    const object = { metadata: ANN, data: { a: "2" } };
    const error = await safeErrorOf(client.apply(ConfigMap, object, { force: false }));
    expect(isApiError(error, "Conflict")).toBe(true);
    expect((await client.apply(ConfigMap, object)).data).toEqual({ a: "2" });
  });

  describe("apply an owned object", () => {
    const owner = { metadata: { name: "web", uid: "o1" } };
    const child = (data: Record<string, string>) => ({
      metadata: { ...ANN, ownerReferences: [ownerReference(Greeting, owner)] },
      data,
    });
    const owned = { owned: true };

    it("that is new, and again, also without a field", async () => {
      const { client } = world();
      await client.apply(ConfigMap, child({ a: "1", b: "1" }), owned);
      expect((await client.apply(ConfigMap, child({ a: "2" }), owned)).data).toEqual({ a: "2" });
    });

    it.each<[string, object[]]>([
      ["nobody owns", []],
      ["another object controls", [{ ...ownerReference(Greeting, owner), uid: "o2" }]],
      ["the owner does not control", [{ ...ownerReference(Greeting, owner), controller: false }]],
    ])("not if it is one that %s", async (_name, references) => {
      const { client } = world();
      const metadata = { ...ANN, ownerReferences: references as never[] };
      const foreign = await client.create(ConfigMap, { metadata, data: { a: "0" } });
      const error = await safeErrorOf(client.apply(ConfigMap, child({ a: "1" }), owned));
      expect(isApiError(error, "AlreadyExists")).toBe(true);
      expect(String(error)).toMatch(
        /PATCH .*: 409 AlreadyExists: configmaps "ann" already exists, and has another controller or none$/,
      );
      expect(await client.get(ConfigMap, ANN)).toEqual(foreign);
    });

    it("not over the fields of one that was created after the check", async () => {
      const { api, client } = world();
      const transport = {
        ...api.transport,
        async send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
          const response = await api.transport.send(request, signal);
          if (request.method === "GET")
            await client.create(ConfigMap, { metadata: ANN, data: { a: "0" } });
          return response;
        },
      };
      const late = new KubeClient({ transport, clock: new FakeClock() });
      const error = await safeErrorOf(late.apply(ConfigMap, child({ a: "1" }), owned));
      expect(isApiError(error, "Conflict")).toBe(true);
      expect((await client.get(ConfigMap, ANN)).metadata.ownerReferences).toBeUndefined();
    });

    it("not if it was replaced after the check", async () => {
      const { api, client } = world();
      await client.apply(ConfigMap, child({ a: "1" }), owned);
      const transport = {
        ...api.transport,
        async send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
          const response = await api.transport.send(request, signal);
          if (request.method !== "GET") return response;
          await client.delete(ConfigMap, ANN);
          await client.create(ConfigMap, { metadata: ANN, data: { a: "0" } });
          return response;
        },
      };
      const late = new KubeClient({ transport, clock: new FakeClock() });
      await safeErrorOf(late.apply(ConfigMap, child({ a: "1" }), owned));
      expect((await client.get(ConfigMap, ANN)).data).toEqual({ a: "0" });
    });

    it("only with a controller, and passes on the error of its check", async () => {
      const { api, client } = world();
      await expect(client.apply(ConfigMap, { metadata: ANN }, owned)).rejects.toThrow(
        "options.owned needs an owner with controller: true in object.metadata.ownerReferences, got none: see ownerReference()",
      );
      api.intercept({ fault: { type: "status", status: 500 } });
      await expect(client.apply(ConfigMap, child({}), owned)).rejects.toThrow("500");
    });
  });

  it("apply the status of an object", async () => {
    const { client } = world();
    await client.create(Greeting, { metadata: ANN, spec: { name: "Ann" } });
    const status = { metadata: ANN, status: { text: "hello" } };
    const greeting = await client.apply(Greeting, status, { subresource: "status" });
    expect(greeting).toMatchObject({ spec: { name: "Ann" }, status: { text: "hello" } });
  });

  it("delete an object, and return false if there is none", async () => {
    const { client } = world();
    const { metadata } = await client.create(ConfigMap, { metadata: ANN });
    const other = await safeErrorOf(client.delete(ConfigMap, ANN, { uid: "other" }));
    expect(isApiError(other, "Conflict")).toBe(true);
    expect(await client.delete(ConfigMap, ANN, { dryRun: true })).toBe(true);
    const { uid, resourceVersion } = metadata;
    expect(await client.delete(ConfigMap, ANN, { uid, resourceVersion })).toBe(true);
    expect(await client.delete(ConfigMap, ANN)).toBe(false);
  });

  it("delete with a propagation for owned objects", async () => {
    const { client, requests } = scripted({});
    await client.delete(ConfigMap, ANN, { propagation: "Foreground", uid: "u" });
    expect(JSON.parse(requests[0]?.body ?? "")).toEqual({
      apiVersion: "v1",
      kind: "DeleteOptions",
      propagationPolicy: "Foreground",
      preconditions: { uid: "u" },
    });
  });

  it("delete with the seconds that a Pod gets", async () => {
    const { client, requests } = scripted({ body: { kind: "Status" } });
    await client.delete(ConfigMap, ANN, { gracePeriodSeconds: 0 });
    expect(JSON.parse(requests[0]?.body ?? "")).toMatchObject({ gracePeriodSeconds: 0 });
  });

  it("are checked for unknown fields as strictly as the caller asks", async () => {
    const Strict = customResource({
      apiVersion: "strict.example.org/v1",
      kind: "Greeting",
      plural: "greetings",
      spec: z.object({ name: z.string() }),
    });
    const strict = new FakeApi({ clock: new FakeClock(), resources: [Strict] }).client;
    const object = { metadata: ANN, spec: { name: "Ann" }, unknown: 1 };
    const error = await errorOf(strict.create(Strict, object, { fieldValidation: "Strict" }));
    expect(isApiError(error, "BadRequest")).toBe(true);
    const stored = await strict.create(Strict, object, { fieldValidation: "Ignore" });
    const { resourceVersion } = stored.metadata;
    const checked = { fieldValidation: "Strict" } as const;
    const update = { ...object, metadata: { ...ANN, resourceVersion } };
    for (const [write, reason] of [
      [strict.update(Strict, update, checked), "BadRequest"],
      [strict.patch(Strict, ANN, { unknown: 1 } as object, checked), "Invalid"],
    ] as const)
      expect(isApiError(await errorOf(write), reason)).toBe(true);
  });

  it("delete a collection: all objects, or those of a namespace and of selectors", async () => {
    const { client, api } = world();
    for (const [namespace, name, app] of [
      ["default", "a", "x"],
      ["default", "b", "y"],
      ["other", "c", "x"],
    ] as const)
      await client.create(ConfigMap, { metadata: { namespace, name, labels: { app } } });
    const left = async (): Promise<string[]> => {
      const names: string[] = [];
      for await (const { metadata } of client.list(ConfigMap)) names.push(metadata.name);
      return names;
    };
    await client.deleteCollection(ConfigMap, { namespace: "default", dryRun: true });
    expect(await left()).toEqual(["a", "b", "c"]);
    await client.deleteCollection(ConfigMap, { namespace: "default", labels: { app: "x" } });
    expect(await left()).toEqual(["b", "c"]);
    await client.deleteCollection(ConfigMap, {
      namespace: "default",
      fields: { "metadata.name": "b" },
      propagation: "Background",
    });
    expect(await left()).toEqual(["c"]);
    expect(api.requests.filter(({ verb }) => verb === "deletecollection")).toHaveLength(3);
  });

  it("of a Secret show none of its data when they fail", async () => {
    const { client } = world();
    const data = { password: SECRET_DATA };
    const created = await client.create(Secret, { metadata: ANN, data });
    await safeErrorOf(client.create(Secret, { metadata: ANN, data }));
    await safeErrorOf(
      client.update(Secret, {
        ...created,
        metadata: { ...created.metadata, resourceVersion: "1" },
      }),
    );
    await safeErrorOf(client.patch(Secret, "default/bob", { data }));
    await safeErrorOf(
      client.update(Secret, { ...created, metadata: { ...created.metadata, name: "a/b" } }),
    );
    await safeErrorOf(client.create(ConfigMap, { ...created, data } as never));
  });
});

describe("modify", () => {
  it("changes a copy, and reads again after a conflict", async () => {
    const { client, clock } = world();
    await client.create(ConfigMap, { metadata: ANN, data: { n: "0" } });
    let rivals = 2;
    const modified = await clock.run(() =>
      client.modify(ConfigMap, ANN, async (object) => {
        if (rivals-- > 0) await client.patch(ConfigMap, ANN, { data: { rival: String(rivals) } });
        object.data = { ...object.data, n: "1" };
      }),
    );
    expect(modified.data).toEqual({ n: "1", rival: "0" });
  });

  it("sends nothing without a change", async () => {
    const { client, writes } = world();
    const created = await client.create(ConfigMap, { metadata: ANN });
    expect(await client.modify(ConfigMap, ANN, () => "ignored")).toEqual(created);
    expect(writes).toHaveLength(1);
  });

  it("goes on until its timeout, and rejects with the last conflict as the cause", async () => {
    const { clock, client, api } = world();
    await client.create(ConfigMap, { metadata: ANN, data: { a: "1" } });
    api.intercept({
      fault: { type: "status", status: 409, reason: "Conflict" },
      verbs: ["update"],
    });
    const start = clock.monotonic();
    let calls = 0;
    const change = (object: ConfigMapObject): void => {
      calls++;
      object.data = { a: "2" };
    };
    const error = await clock.run(() =>
      errorOf(client.modify(ConfigMap, ANN, change, { timeout: 10_000 })),
    );
    expect(clock.monotonic() - start).toBe(10_000);
    expect(isTimeoutError(error)).toBe(true);
    expect(isConflict((error as Error).cause)).toBe(true);
    expect(calls).toBeGreaterThan(10);
    expect(calls).toBeLessThan(60);
  });

  it("counts right with 50 writers at once", async () => {
    const { clock, client } = world();
    await client.create(ConfigMap, { metadata: ANN, data: { count: "0" } });
    const increment = (object: ConfigMapObject): void => {
      object.data = { count: `${Number(object.data?.["count"]) + 1}` };
    };
    await clock.run(async () => {
      const writers = Array.from({ length: 50 }, () => client.modify(ConfigMap, ANN, increment));
      await Promise.all(writers);
    });
    expect((await client.get(ConfigMap, ANN)).data).toEqual({ count: "50" });
  });

  it("reads the object and writes its status", async () => {
    const found = { body: { metadata: { ...ANN, uid: "u", resourceVersion: "7" } } };
    const { client, requests } = scripted(found);
    await client.modify(Greeting, ANN, (object) => (object.status = { text: "x" }), {
      subresource: "status",
    });
    expect(
      requests.map(({ method, path }) => `${method} ${path.replace(/.*greetings/, "")}`),
    ).toEqual(["GET /ann", "PUT /ann/status?fieldManager=holdfast"]);
  });

  it("rejects with the error of the change, and sends nothing", async () => {
    const { client, writes } = world();
    await client.create(ConfigMap, { metadata: ANN });
    const error = new Error("mine");
    const change = () => {
      throw error;
    };
    expect(await errorOf(client.modify(ConfigMap, ANN, change))).toBe(error);
    expect(writes).toHaveLength(1);
  });
});

describe("onWrite", () => {
  it("receives each response before the call resolves", async () => {
    const { client, clock, writes, order } = world();
    const told = async <Value>(promise: Promise<Value>): Promise<Value> => {
      const value = await promise;
      order.push("resolved");
      return value;
    };
    const created = await told(client.create(ConfigMap, { metadata: ANN, data: { a: "1" } }));
    const updated = await told(client.update(ConfigMap, { ...created, data: { a: "2" } }));
    await told(client.patch(ConfigMap, ANN, { data: { a: "3" } }));
    await told(client.apply(ConfigMap, { metadata: ANN, data: { b: "4" } }, { dryRun: true }));
    await told(
      clock.run(() => client.modify(ConfigMap, ANN, (object) => (object.data = { c: "5" }))),
    );
    await told(client.delete(ConfigMap, "default/ann"));
    expect(order).toEqual(writes.flatMap(() => ["write", "resolved"]));
    const { uid } = created.metadata;
    const common = { resource: ConfigMap, ref: ANN, subresource: undefined, uid };
    expect(writes).toMatchObject([
      { ...common, verb: "create", dryRun: false },
      { ...common, verb: "update", dryRun: false },
      { ...common, verb: "patch", dryRun: false },
      { ...common, verb: "apply", dryRun: true },
      { ...common, verb: "update", dryRun: false },
      { ...common, verb: "delete", dryRun: false },
    ]);
    expect(writes[0]?.response).toBe(created);
    expect(writes[1]?.response).toBe(updated);
  });

  it("receives the name that the server generated, and the subresource", async () => {
    const { client, writes } = world();
    const made = await client.create(ConfigMap, {
      metadata: { namespace: "default", generateName: "a-" },
    });
    expect(writes[0]?.ref).toEqual({ namespace: "default", name: made.metadata.name });
    await client.create(Greeting, { metadata: ANN, spec: { name: "Ann" } });
    await client.patch(Greeting, ANN, { status: { text: "x" } }, { subresource: "status" });
    expect(writes[2]).toMatchObject({ ref: ANN, subresource: "status" });
  });

  it("receives a subresource that is created", async () => {
    const { transport, requests } = scriptedTransport({ body: { kind: "Eviction" } });
    const client = new KubeClient({ transport });
    await client.create(ConfigMap, { metadata: ANN }, { subresource: "eviction" });
    expect(requests[0]?.path).toMatch(/\/configmaps\/ann\/eviction\?/);
  });

  it.each(["create", "update", "apply"] as const)(
    "is not called for %s of an object without metadata",
    async (verb) => {
      const { client, writes } = world();
      const error = await safeErrorOf(client[verb](ConfigMap, {} as never));
      expect(error.message).toContain("object.metadata.name must be a string");
      expect(writes).toEqual([]);
    },
  );

  it("is not called for a failed write", async () => {
    const { client, writes } = world();
    await safeErrorOf(client.patch(ConfigMap, ANN, {}));
    expect(await client.delete(ConfigMap, ANN)).toBe(false);
    expect(writes).toEqual([]);
  });
});
