import { silentLogger } from "@holdfast/controller";
import {
  atUrl,
  builtIn,
  Cluster,
  isApiError,
  KubeClient,
  type KubeWatchEvent,
  metadataOf,
} from "@holdfast/kubernetes";
import type { ConfigMap as ConfigMapObject } from "kubernetes-types/core/v1.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { ownServerTest } from "../../../../test/cluster.ts";
import { errorOf } from "../../../../test/error-of.ts";
import { NamedCluster } from "./named-cluster.ts";

const ConfigMap = builtIn<ConfigMapObject>("v1", "ConfigMap");
const textOf = ({ type, object }: KubeWatchEvent): string => `${type} ${object?.metadata.name}`;

let named: NamedCluster;

beforeAll(async () => {
  named = await NamedCluster.open();
});

afterAll(async () => await named[Symbol.asyncDispose]());

async function put(name: string, app: string): Promise<string> {
  const metadata = { name, namespace: named.namespace, labels: { app } };
  const stored = await named.client.apply(ConfigMap, { metadata, data: { text: "long" } });
  return stored.metadata.resourceVersion;
}

describe("a watch of a client", () => {
  test("begins with what is there, follows changes by selectors, and goes on from an event", async () => {
    const { client, namespace } = named;
    await put("ann", "a");
    const stop = new AbortController();
    const reason = new Error("enough");
    const options = { namespace, labels: { app: "a" }, signal: stop.signal };
    const watch = client.watch(ConfigMap, options);
    const first = (await watch.next()).value as KubeWatchEvent;
    expect(textOf(first)).toBe("ADDED ann");
    await put("bob", "a");
    await put("ann", "b"); // no longer selected
    expect(textOf((await watch.next()).value as KubeWatchEvent)).toBe("ADDED bob");
    expect(textOf((await watch.next()).value as KubeWatchEvent)).toBe("DELETED ann");
    const next = errorOf(watch.next());
    stop.abort(reason);
    expect(await next).toBe(reason);
    const { resourceVersion } = first;
    const again: string[] = [];
    for await (const event of client.watch(ConfigMap, { namespace, resourceVersion })) {
      again.push(textOf(event));
      if (again.length === 2) break;
    }
    expect(again).toEqual(["ADDED bob", "MODIFIED ann"]);
  });

  ownServerTest("rejects with 410 from a version that the server has forgotten", async () => {
    await using server = await ApiServer.start();
    const transport = atUrl(server.url, { ca: server.ca, token: () => server.adminToken });
    const client = new KubeClient({ transport, logger: silentLogger });
    const metadata = { name: "ann", namespace: "default" };
    const { metadata: created } = await client.create(ConfigMap, { metadata });
    await client.patch(ConfigMap, metadata, { data: { text: "two" } });
    await server.compact();
    await server.restart();
    const { resourceVersion } = created;
    const error = await errorOf(client.watch(ConfigMap, { resourceVersion }).next());
    expect([isApiError(error), error]).toMatchObject([true, { status: 410, reason: "Expired" }]);
  });
});

test("metadata alone is what get, list, watch and an informer receive", async () => {
  const { client, namespace, transport } = named;
  const Partial = metadataOf(ConfigMap);
  await put("cid", "m");
  await put("dan", "m");
  const labels = { app: "m" };
  const { apiVersion, kind, metadata } = await client.get(ConfigMap, { namespace, name: "cid" });
  const expected = { apiVersion, kind, metadata };
  expect(metadata.managedFields).toHaveLength(1);
  expect(await client.get(Partial, { namespace, name: "cid" })).toEqual(expected);
  const listed = [];
  for await (const one of client.list(Partial, { namespace, labels, pageSize: 1 }))
    listed.push(one);
  expect(listed.map((one) => one.metadata.name)).toEqual(["cid", "dan"]);
  expect(listed[0]).toEqual(expected);
  const watch = client.watch(Partial, { namespace, labels });
  expect((await watch.next()).value?.object).toEqual(expected);
  await watch.return();
  const cluster = new Cluster({ transport, logger: silentLogger });
  const informer = cluster.watch(Partial, { namespaces: [namespace], labels });
  const stop = new AbortController();
  const running = cluster.run(stop.signal);
  await cluster.ready(stop.signal);
  const { managedFields: _, ...rest } = metadata;
  expect(informer.get({ namespace, name: "cid" })).toEqual({ ...expected, metadata: rest });
  stop.abort();
  await running;
});

test("the server refuses metadata of another form than the response has", async () => {
  const { transport, namespace } = named;
  const collection = `/api/v1/namespaces/${namespace}/configmaps`;
  await put("eve", "f");
  const asked = [
    [`${collection}/eve`, "PartialObjectMetadata"],
    [`${collection}/eve`, "PartialObjectMetadataList"],
    [collection, "PartialObjectMetadataList"],
    [collection, "PartialObjectMetadata"],
    ["/api/v1", "PartialObjectMetadata"],
  ] as const;
  const statuses: number[] = [];
  for (const [path, kind] of asked) {
    const headers = { accept: `application/json;as=${kind};g=meta.k8s.io;v=v1` };
    const request = { method: "GET", path, headers };
    const { status, body } = await transport.send(request, AbortSignal.timeout(30_000));
    for await (const _ of body);
    statuses.push(status);
  }
  expect(statuses).toEqual([200, 406, 200, 406, 406]);
});
