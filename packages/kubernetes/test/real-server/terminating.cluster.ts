import {
  builtIn,
  customResource,
  ensureCrd,
  isApiError,
  type KubeObject,
  removeFinalizer,
} from "@holdfast/kubernetes";
import { poll } from "@holdfast/wait";
import { expect, test } from "vitest";
import { NamedCluster } from "./named-cluster.ts";

const Definition = builtIn("apiextensions.k8s.io/v1", "CustomResourceDefinition");
const FINALIZER = "example.org/clean-up";
const Leaving = customResource<KubeObject & { spec?: { text: string } }>({
  apiVersion: "leaving.example.org/v1",
  kind: "Leaving",
  plural: "leavings",
  spec: { type: "object", properties: { text: { type: "string" } } },
});

test("objects of a definition that is being deleted are patched, and leave", async () => {
  await using named = await NamedCluster.open();
  const { client, namespace } = named;
  await ensureCrd(client, Leaving.crd as object);
  const metadata = { namespace, name: "a" };
  const object = { metadata: { ...metadata, finalizers: [FINALIZER] }, spec: { text: "one" } };
  const created = await client.create(Leaving, object);
  await client.delete(Definition, "leavings.leaving.example.org");
  const isMarked = async (): Promise<boolean> =>
    (await client.get(Leaving, metadata)).metadata.deletionTimestamp !== undefined;
  await poll(isMarked, { timeout: 60_000 });

  const patched = await client.patch(Leaving, metadata, { spec: { text: "two" } });
  expect(patched.spec).toEqual({ text: "two" });
  const another = { metadata: { namespace, name: "b" }, spec: { text: "one" } };
  await expect(client.create(Leaving, another)).rejects.toSatisfy((error) =>
    isApiError(error, "Forbidden"),
  );
  await removeFinalizer(client, Leaving, created, { finalizer: FINALIZER });
  const isGone = async (): Promise<boolean> =>
    (await client.find(Definition, "leavings.leaving.example.org")) === undefined;
  await poll(isGone, { timeout: 60_000 });
});
