// Compiled, never run: the types of kubernetes-types and of client-node fit.
import {
  builtIn,
  type CachedObject,
  type Cluster,
  customResource,
  finalize,
  fromCrd,
  type Jsonify,
  type KubeClient,
  type KubeConfigLike,
  type KubeObject,
  metadataOf,
  type ObjectOf,
  type Resource,
  removeFinalizer,
  type StoredObject,
} from "@holdfast/kubernetes";
import type {
  KubeConfig,
  V1ConfigMap,
  V1Deployment,
  V1Lease,
  V1Pod,
} from "@kubernetes/client-node";
import { type } from "arktype";
import type { Deployment as DeploymentObject } from "kubernetes-types/apps/v1.js";
import type { Lease as LeaseObject } from "kubernetes-types/coordination/v1.js";
import type { ConfigMap as ConfigMapObject, Pod as PodObject } from "kubernetes-types/core/v1.js";
import { expectTypeOf } from "vitest";
import { z } from "zod";

interface GreetingObject extends KubeObject {
  spec: { name: string; times?: number };
  status?: { text: string };
}

declare const client: KubeClient;
declare const text: string | undefined;
const Greeting = customResource<GreetingObject>({
  apiVersion: "example.org/v1",
  kind: "Greeting",
  plural: "greetings",
});
const ConfigMap = builtIn<ConfigMapObject>("v1", "ConfigMap");
const Deployment = builtIn<DeploymentObject>("apps/v1", "Deployment");
const Lease = builtIn<LeaseObject>("coordination.k8s.io/v1", "Lease");
const Pod = builtIn<PodObject>("v1", "Pod");

export async function withOwnTypes(): Promise<void> {
  const greeting = await client.get(Greeting, "default/ann");
  expectTypeOf(greeting).toEqualTypeOf<StoredObject<GreetingObject>>();
  expectTypeOf(greeting.metadata.name).toEqualTypeOf<string>();
  expectTypeOf(greeting.metadata.resourceVersion).toEqualTypeOf<string>();
  expectTypeOf(greeting.spec.name).toEqualTypeOf<string>();
  expectTypeOf(greeting.status?.text).toEqualTypeOf<string | undefined>();
  expectTypeOf(await client.find(Greeting, "default/ann")).toEqualTypeOf<
    StoredObject<GreetingObject> | undefined
  >();

  const { name, namespace } = greeting.metadata;
  await client.create(Greeting, {
    metadata: { name, namespace },
    spec: { name: "x", times: undefined },
  });
  // @ts-expect-error a spec must be whole
  await client.create(Greeting, { metadata: { name }, spec: {} });
  // @ts-expect-error a Greeting has no data
  await client.create(Greeting, { metadata: { name }, spec: { name: "x" }, data: {} });
  await client.update(Greeting, { ...greeting, spec: { ...greeting.spec, times: 2 } });
  // @ts-expect-error without a version
  await client.update(Greeting, { metadata: { name }, spec: { name: "x" } });
  await client.apply(Greeting, { metadata: { name, namespace }, status: { text: "x" } });
  // @ts-expect-error without a name
  await client.apply(Greeting, { status: { text: "x" } });
  await client.patch(Greeting, { name, namespace }, { spec: { times: null } });
  // @ts-expect-error a number of times
  await client.patch(Greeting, { name, namespace }, { spec: { times: "two" } });
  await client.patch(Greeting, "default/ann", [{ op: "remove", path: "/spec/times" }]);
  // @ts-expect-error not an operation
  await client.patch(Greeting, "default/ann", [{ op: "rename", path: "/spec/times" }]);
  await client.modify(Greeting, "default/ann", (object) => {
    expectTypeOf(object).toEqualTypeOf<StoredObject<GreetingObject>>();
    object.spec.times = 3;
  });
  for await (const object of client.list(Greeting))
    expectTypeOf(object).toEqualTypeOf<StoredObject<GreetingObject>>();
}

export async function withCachedObjects(cached: CachedObject<GreetingObject>): Promise<void> {
  expectTypeOf(cached.spec).toEqualTypeOf<{ readonly name: string; readonly times?: number }>();
  // @ts-expect-error a cached object is frozen
  cached.spec.name = "x";
  await client.update(Greeting, cached);
  await client.update(Greeting, { ...cached, spec: { ...cached.spec, times: 1 } });
  await client.apply(Greeting, cached);
  await client.create(Greeting, cached);
}

export async function withKubernetesTypes(): Promise<void> {
  const map = await client.get(ConfigMap, "default/ann");
  expectTypeOf(map.kind).toEqualTypeOf<"ConfigMap">();
  expectTypeOf(map.data).toEqualTypeOf<{ [name: string]: string } | undefined>();
  await client.create(ConfigMap, {
    metadata: { name: "ann", namespace: text, labels: undefined, finalizers: ["a/b"] },
    data: { a: "1" },
    immutable: undefined,
  });
  await client.update(ConfigMap, map);
  await client.update(ConfigMap, { ...map, data: { ...map.data, b: "2" } });
  await client.patch(ConfigMap, "default/ann", {
    data: { a: null },
    metadata: { labels: { x: null } },
  });
  const owner = { apiVersion: "v1", kind: "A", name: "a", uid: "u", controller: true };
  await client.apply(ConfigMap, {
    metadata: { name: "x", ownerReferences: [owner] },
    data: { text: "x" },
  });
  await client.apply(Deployment, {
    metadata: { name: "web", namespace: text },
    spec: {
      replicas: 2,
      template: { spec: { containers: [{ name: "web", image: text }] } },
    },
  });
  const lease = await client.get(Lease, "default/x");
  expectTypeOf(lease.spec?.renewTime).toEqualTypeOf<string | undefined>();
  await client.modify(Pod, "default/x", (pod) => {
    if (pod.spec !== undefined) pod.spec.activeDeadlineSeconds = 1;
  });
}

const NodeConfigMap = builtIn<Jsonify<V1ConfigMap>>("v1", "ConfigMap");
const NodeDeployment = builtIn<Jsonify<V1Deployment>>("apps/v1", "Deployment");
const NodeLease = builtIn<Jsonify<V1Lease>>("coordination.k8s.io/v1", "Lease");
const NodePod = builtIn<Jsonify<V1Pod>>("v1", "Pod");

export async function withClientNode(config: KubeConfig): Promise<void> {
  expectTypeOf(config).toExtend<KubeConfigLike>();
  const map = await client.get(NodeConfigMap, "default/ann");
  expectTypeOf(map.metadata.creationTimestamp).toEqualTypeOf<string>();
  await client.create(NodeConfigMap, { metadata: { name: "ann" }, data: { a: "1" } });
  await client.update(NodeConfigMap, { ...map, data: { ...map.data, b: "2" } });
  await client.apply(NodeDeployment, {
    metadata: { name: "web", namespace: text },
    spec: { template: { spec: { containers: [{ name: "web", image: text }] } } },
  });
  const lease = await client.get(NodeLease, "default/x");
  expectTypeOf(lease.metadata.deletionTimestamp).toEqualTypeOf<string | undefined>();
  for await (const pod of client.list(NodePod, { fields: { "spec.nodeName": "a" } }))
    expectTypeOf(pod.status?.startTime).toEqualTypeOf<string | undefined>();
}

const CronTask = customResource({
  apiVersion: "batch.example.org/v1",
  kind: "CronTask",
  plural: "crontasks",
  spec: z.object({
    schedule: z.string(),
    policy: z.enum(["Allow", "Forbid"]).default("Allow"),
    port: z.union([z.string(), z.int()]).optional(),
  }),
  status: z.object({ active: z.array(z.string()) }),
});
const Backup = customResource({
  apiVersion: "batch.example.org/v1",
  kind: "Backup",
  plural: "backups",
  spec: type({ target: "string", "keep?": "number.integer" }),
});

export async function withTypesOfSchemas(cluster: Cluster): Promise<void> {
  const metadata = { name: "a" };
  const task = await client.get(CronTask, "default/a");
  expectTypeOf(task.spec.policy).toEqualTypeOf<"Allow" | "Forbid">();
  expectTypeOf(task.spec.port).toEqualTypeOf<string | number | undefined>();
  expectTypeOf(task).toEqualTypeOf<StoredObject<ObjectOf<typeof CronTask>>>();
  expectTypeOf(task.status?.active).toEqualTypeOf<string[] | undefined>();
  expectTypeOf(task.metadata.uid).toEqualTypeOf<string>();

  const written = await client.create(CronTask, { metadata, spec: { schedule: "* * * * *" } });
  expectTypeOf(written.spec.policy).toEqualTypeOf<"Allow" | "Forbid">();
  await client.apply(CronTask, { metadata, spec: { policy: "Forbid" } });
  await client.patch(CronTask, "default/a", { spec: { port: null } });
  await client.update(CronTask, task);
  await client.modify(CronTask, "default/a", ({ spec }) => {
    expectTypeOf(spec.policy).toEqualTypeOf<"Allow" | "Forbid">();
  });
  // @ts-expect-error a schedule is a text
  await client.create(CronTask, { metadata, spec: { schedule: 5 } });
  // @ts-expect-error a schedule must be given
  await client.create(CronTask, { metadata, spec: { policy: "Allow" } });
  // @ts-expect-error a policy is one of two
  await client.apply(CronTask, { metadata, spec: { policy: "Replace" } });

  const cached = cluster.watch(CronTask).get("default/a");
  expectTypeOf(cached?.spec.policy).toEqualTypeOf<"Allow" | "Forbid" | undefined>();

  const backup = await client.get(Backup, "default/a");
  expectTypeOf(backup.spec.keep).toEqualTypeOf<number | undefined>();
  expectTypeOf(backup.status).toEqualTypeOf<undefined>();
  await client.create(Backup, { metadata, spec: { target: "s3" } });
  // @ts-expect-error a target must be given
  await client.create(Backup, { metadata, spec: {} });
}

export async function withMetadataAlone(cluster: Cluster): Promise<void> {
  const PodMetadata = metadataOf(Pod);
  const pod = await client.get(PodMetadata, "default/ann");
  expectTypeOf(pod).toEqualTypeOf<StoredObject<KubeObject>>();
  expectTypeOf(cluster.watch(PodMetadata).get("default/ann")).toEqualTypeOf<
    CachedObject | undefined
  >();
  for await (const { object } of client.watch(PodMetadata))
    expectTypeOf(object?.metadata.labels).toEqualTypeOf<{ [name: string]: string } | undefined>();
  const ref = "default/ann";
  const metadata = { name: "ann", namespace: "default" };
  const stored = { metadata: { ...metadata, resourceVersion: "1" } } as StoredObject<PodObject>;
  const whole = (): void => {};
  // @ts-expect-error metadata alone is for reading
  await client.create(PodMetadata, { metadata } as never);
  // @ts-expect-error metadata alone is for reading
  await client.update(PodMetadata, stored as never);
  // @ts-expect-error metadata alone is for reading
  await client.apply(PodMetadata, { metadata } as never);
  // @ts-expect-error metadata alone is for reading
  await client.patch(PodMetadata, ref, [{ op: "remove", path: "/metadata/labels/a" }]);
  // @ts-expect-error metadata alone is for reading
  await client.patch(PodMetadata, ref, { metadata: { labels: { a: "1" } } } as never);
  // @ts-expect-error metadata alone is for reading
  await client.modify(PodMetadata, ref, whole);
  // @ts-expect-error metadata alone is for reading
  await client.upgradeToApply(PodMetadata, ref);
  // @ts-expect-error metadata alone is for reading
  await client.delete(PodMetadata, ref);
  // @ts-expect-error metadata alone is for reading
  await client.deleteCollection(PodMetadata);
  const options = { finalizer: "example.org/a", apply: whole, cleanup: whole } as never;
  // @ts-expect-error metadata alone is for reading
  await finalize(client, PodMetadata, stored as never, options);
  // @ts-expect-error metadata alone is for reading
  await removeFinalizer(client, PodMetadata, stored as never, options);
}

/** A function of the user, for any kind. */
export async function withAnyKind<T extends KubeObject>(resource: Resource<T>): Promise<void> {
  await client.patch(resource, "default/ann", [{ op: "remove", path: "/metadata/labels/a" }]);
  await client.delete(resource, "default/ann");
}

export function withDefinitions(): void {
  const names = { apiVersion: "example.org/v1", kind: "Greeting", plural: "greetings" } as const;
  const spec = { type: "object", properties: { name: { type: "string" } } } as const;
  const versions = { v1: { spec: z.object({ name: z.string() }) } };
  const kind = { group: "example.org", kind: "Greeting", plural: "greetings" } as const;
  const Greeting = customResource<GreetingObject>({ ...names, spec });
  expectTypeOf(Greeting.crd).toEqualTypeOf<object>();
  expectTypeOf<ObjectOf<typeof Greeting>>().toEqualTypeOf<GreetingObject>();
  expectTypeOf(customResource({ ...names, spec }).crd).toEqualTypeOf<object>();
  expectTypeOf(fromCrd<GreetingObject>({}).crd).toEqualTypeOf<object>();
  expectTypeOf(CronTask.crd).toEqualTypeOf<object>();
  const Versions = customResource({ ...kind, versions, storage: "v1" });
  expectTypeOf(Versions.crd).toEqualTypeOf<object>();
  expectTypeOf(Versions.v1.crd).toEqualTypeOf<object>();
  expectTypeOf(customResource<GreetingObject>(names).crd).toEqualTypeOf<object | undefined>();
}
