import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import { builtIn, isApiError, KubeClient, metadataOf, ownerReference } from "@holdfast/kubernetes";
import type { Secret as SecretObject } from "kubernetes-types/core/v1.js";
import { describe, expect, it } from "vitest";
import { errorOf } from "../../../../test/error-of.ts";
import { quietLogger, SECRET_DATA } from "../secrets.ts";
import { scriptedTransport } from "./scripted-transport.ts";

const Secret = builtIn<SecretObject>("v1", "Secret");
const SecretMetadata = metadataOf(Secret);

async function world() {
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [Secret] });
  for (const name of ["ann", "bob", "cid"])
    await api.client.create(Secret, {
      metadata: { name, namespace: "default", labels: { name } },
      data: { token: SECRET_DATA },
    });
  return { api, client: new KubeClient({ transport: api.transport, clock }) };
}

describe("metadata alone", () => {
  it("is read by get, find and list, with the kind of its resource", async () => {
    const { api, client } = await world();
    const whole = await client.get(Secret, "default/ann");
    const { apiVersion, kind, metadata } = whole;
    expect(await client.get(SecretMetadata, "default/ann")).toEqual({ apiVersion, kind, metadata });
    expect(await client.find(SecretMetadata, "default/none")).toBeUndefined();
    const objects = [];
    for await (const object of client.list(SecretMetadata, { pageSize: 1 })) objects.push(object);
    expect(objects.map((object) => Object.keys(object).join())).toEqual(
      Array.from({ length: 3 }, () => "apiVersion,kind,metadata"),
    );
    expect(objects[0]?.metadata).toEqual(metadata);
    expect(ownerReference(SecretMetadata, objects[0] as never)).toMatchObject({ kind: "Secret" });
    const accepted = api.requests.slice(-3).map(({ headers }) => headers["accept"]);
    const list =
      "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
    expect(accepted).toEqual([list, list, list]);
  });

  it("is what is left of the object of a server that sends all of it", async () => {
    const metadata = { name: "ann", namespace: "default", uid: "u", resourceVersion: "7" };
    const body = { apiVersion: "v1", kind: "Secret", metadata, data: { token: SECRET_DATA } };
    const { transport } = scriptedTransport(
      { body },
      { body: { items: [body], metadata: { resourceVersion: "7" } } },
      { body: { type: "ADDED", object: body } },
    );
    const client = new KubeClient({ transport, logger: quietLogger() });
    const rest = { apiVersion: "v1", kind: "Secret", metadata };
    expect(await client.get(SecretMetadata, "default/ann")).toEqual(rest);
    expect((await client.list(SecretMetadata).next()).value).toEqual(rest);
    expect((await client.watch(SecretMetadata).next()).value?.object).toEqual(rest);
  });

  it("is not the response to a call for the whole object", async () => {
    const body = {
      apiVersion: "meta.k8s.io/v1",
      kind: "PartialObjectMetadata",
      metadata: { name: "ann" },
    };
    const { transport } = scriptedTransport({ body });
    const client = new KubeClient({ transport, logger: quietLogger() });
    const error = await errorOf(client.get(Secret, "default/ann"));
    expect([isApiError(error), String(error)]).toEqual([
      true,
      expect.stringContaining("the response is not a Secret but a PartialObjectMetadata"),
    ]);
  });
});
