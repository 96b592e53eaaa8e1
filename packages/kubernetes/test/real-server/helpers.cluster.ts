import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import {
  atUrl,
  builtIn,
  Cluster,
  type Condition,
  customResource,
  EventRecorder,
  ensureCrd,
  finalize,
  fromCrd,
  fromKubectl,
  isApiError,
  KubeClient,
  type KubeObject,
  type Stored,
  setCondition,
} from "@holdfast/kubernetes";
import { poll } from "@holdfast/wait";
import { afterAll, beforeAll, describe, expect, vi } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { isOwnServer, ownServerTest } from "../../../../test/cluster.ts";

const GROUP = "helpers.example.org";

interface BucketObject extends KubeObject {
  spec?: { size?: number; color?: string };
  status?: { conditions?: readonly Condition[] };
}
const Bucket = customResource<BucketObject>({
  apiVersion: `${GROUP}/v1`,
  kind: "Bucket",
  plural: "buckets",
});

interface EventObject extends KubeObject {
  regarding?: { name?: string; uid?: string };
  series?: { count: number };
  type?: string;
  reason?: string;
  note?: string;
  reportingController?: string;
}
const Event = builtIn<EventObject>("events.k8s.io/v1", "Event");

/** The schema of metav1.Condition, as kubebuilder writes it. */
const CONDITION = {
  type: "object",
  required: ["type", "status", "reason", "message", "lastTransitionTime"],
  properties: {
    type: { type: "string", maxLength: 316 },
    status: { type: "string", enum: ["True", "False", "Unknown"] },
    reason: { type: "string", minLength: 1, pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" },
    message: { type: "string" },
    observedGeneration: { type: "integer", minimum: 0 },
    lastTransitionTime: { type: "string", format: "date-time" },
  },
};

/** A CustomResourceDefinition whose spec has these fields. */
function crdOf(kind: string, fields: object, versions = ["v1"]) {
  const singular = kind.toLowerCase();
  const conditions = {
    ...{ type: "array", items: CONDITION },
    ...{ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] },
  };
  const properties = {
    spec: { type: "object", properties: fields },
    status: { type: "object", properties: { conditions } },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${singular}s.${GROUP}`, labels: { [kind]: `${versions.length}` } },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { kind, plural: `${singular}s`, singular },
      versions: versions.map((name) => ({
        ...{ name, served: true, storage: name === "v1", subresources: { status: {} } },
        schema: { openAPIV3Schema: { type: "object", properties } },
      })),
    },
  };
}

const SIZE = { size: { type: "integer" } };
const namespace = "helpers";
let server: ApiServer;
let client: KubeClient;

const clientWith = (token: string): KubeClient =>
  new KubeClient({
    transport: atUrl(server.url, { ca: server.ca, token: () => token }),
    logger: silentLogger,
  });

beforeAll(async () => {
  if (!isOwnServer) return;
  server = await ApiServer.start();
  client = clientWith(server.adminToken);
  await ensureCrd(client, crdOf("Bucket", SIZE));
});

afterAll(async () => await server?.[Symbol.asyncDispose]());

describe("ensureCrd on a real server", () => {
  ownServerTest("resolves when objects can be listed, created and watched", async () => {
    for (const kind of ["Apple", "Banana", "Cherry", "Damson", "Elder"]) {
      const manifest = crdOf(kind, SIZE);
      const stored = await ensureCrd(client, manifest);
      expect(stored).toMatchObject({
        status: {
          conditions: expect.arrayContaining([
            expect.objectContaining({ type: "Established", status: "True" }),
          ]),
        },
      });
      const resource = fromCrd<BucketObject>(manifest);
      const metadata = { namespace, name: "first" };
      const created = await client.create(resource, { metadata, spec: { size: 1 } });
      expect(created).toMatchObject({ spec: { size: 1 } });
    }
  });

  ownServerTest(
    "adds a field and a version to a definition, and keeps labels of others",
    async () => {
      const manifest = crdOf("Fig", SIZE);
      await ensureCrd(client, manifest);
      const Definition = builtIn<KubeObject>("apiextensions.k8s.io/v1", "CustomResourceDefinition");
      const name = `figs.${GROUP}`;
      await client.patch(Definition, name, { metadata: { labels: { team: "fruit" } } });
      const next = crdOf("Fig", { ...SIZE, color: { type: "string" } }, ["v1", "v2"]);
      const updated = await ensureCrd(client, next);
      expect(updated.metadata.labels).toEqual({ Fig: "2", team: "fruit" });
      const Fig = fromCrd<BucketObject>(next, "v2");
      // A server goes on with the old schema for a moment.
      const isKept = async (): Promise<boolean> => {
        const ref = { namespace, name: "colored" };
        const stored = await client.apply(Fig, { metadata: ref, spec: { color: "green" } });
        return stored.spec?.color === "green";
      };
      await poll(isKept, { backoff: { duration: 20 }, timeout: 30_000 });
      const unchanged = await ensureCrd(client, next);
      expect(unchanged.metadata.resourceVersion).toBe(updated.metadata.resourceVersion);
    },
  );

  ownServerTest("succeeds in every one of several replicas at once", async () => {
    const five = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 5 }, work));
    // Each has a connection: else the first one is done before the others begin.
    await five(() => client.find(Bucket, { namespace, name: "none" }));
    for (const kind of ["Grape", "Lemon", "Mango"]) {
      const all = await five(() => ensureCrd(client, crdOf(kind, SIZE)));
      expect(new Set(all.map(({ metadata }) => metadata.uid)).size).toBe(1);
    }
  });

  ownServerTest("rejects when another definition has the kind", async () => {
    const manifest = crdOf("Bucket", SIZE);
    const { spec } = manifest;
    const other = {
      ...manifest,
      metadata: { name: `pails.${GROUP}` },
      spec: { ...spec, names: { ...spec.names, plural: "pails", singular: "pail" } },
    };
    await expect(ensureCrd(client, other)).rejects.toThrow(
      `the names of CustomResourceDefinition pails.${GROUP} are taken`,
    );
  });
});

describe("finalize on a real server", () => {
  ownServerTest("keeps the finalizers of two owners who act at once", async () => {
    const owners = [`${GROUP}/one`, `${GROUP}/two`];
    const outside = new Map(owners.map((owner) => [owner, new Set<string>()]));
    const cleaned: string[] = [];
    const both = (buckets: readonly Stored<BucketObject>[]) =>
      Promise.all(
        buckets.flatMap((bucket) =>
          owners.map((owner) =>
            finalize(client, Bucket, bucket, owner, {
              apply: ({ metadata }) => void outside.get(owner)?.add(metadata.name),
              cleanup: ({ metadata }) => {
                cleaned.push(`${owner} ${metadata.name}`);
                outside.get(owner)?.delete(metadata.name);
              },
            }),
          ),
        ),
      );
    const names = Array.from({ length: 20 }, (_, i) => `finalized-${i}`);
    const read = () => Promise.all(names.map((name) => client.get(Bucket, { namespace, name })));
    for (const name of names) await client.create(Bucket, { metadata: { namespace, name } });

    await both(await read());
    for (const { metadata } of await read())
      expect(metadata.finalizers?.toSorted()).toEqual(owners);
    expect([...outside.values()].map(({ size }) => size)).toEqual([20, 20]);

    for (const name of names) await client.delete(Bucket, { namespace, name });
    await both(await read());
    for (const name of names)
      expect(await client.find(Bucket, { namespace, name })).toBeUndefined();
    expect([...outside.values()].map(({ size }) => size)).toEqual([0, 0]);
    expect(new Set(cleaned).size).toBe(40);
    expect(cleaned).toHaveLength(40);
  });

  ownServerTest("keeps an object while its cleanup fails, and lets it go after", async () => {
    const ref = { namespace, name: "unclean" };
    const handlers = { apply: () => undefined, cleanup: () => undefined };
    const created = await client.create(Bucket, { metadata: ref });
    await finalize(client, Bucket, created, `${GROUP}/one`, handlers);
    await client.delete(Bucket, ref);
    const dying = await client.get(Bucket, ref);
    const cleanup = (): never => {
      throw new Error("the provider is away");
    };
    const failing = finalize(client, Bucket, dying, `${GROUP}/one`, { ...handlers, cleanup });
    await expect(failing).rejects.toThrow("the provider is away");
    expect((await client.get(Bucket, ref)).metadata.finalizers).toEqual([`${GROUP}/one`]);
    // Another owner comes too late: the server takes no new finalizer.
    const apply = vi.fn();
    await finalize(client, Bucket, dying, `${GROUP}/late`, { ...handlers, apply });
    expect(apply).not.toHaveBeenCalled();
    await finalize(client, Bucket, dying, `${GROUP}/one`, handlers);
    expect(await client.find(Bucket, ref)).toBeUndefined();
  });
});

describe("conditions and Events on a real server", () => {
  ownServerTest(
    "a condition passes the schema of Kubernetes; a repeated one writes nothing",
    async () => {
      const ref = { namespace, name: "conditions" };
      await client.create(Bucket, { metadata: ref });
      const set = async (status: "True" | "False", now: number) => {
        const { status: before } = await client.get(Bucket, ref);
        const ready = { type: "Ready", status, reason: "Synced", observedGeneration: 1 } as const;
        const conditions = setCondition(before?.conditions, ready, new FakeClock({ now }));
        const update = { metadata: ref, status: { conditions } };
        return await client.apply(Bucket, update, { subresource: "status" });
      };
      const first = await set("False", 0);
      const second = await set("True", 60_000);
      const third = await set("True", 120_000);
      expect(second.metadata.resourceVersion).not.toBe(first.metadata.resourceVersion);
      expect(third.metadata.resourceVersion).toBe(second.metadata.resourceVersion);
      expect(third.status?.conditions).toEqual([
        expect.objectContaining({ type: "Ready", status: "True", observedGeneration: 1 }),
      ]);
      const args = ["bucket/conditions", "--for=condition=Ready", "--timeout=20s", "-n", namespace];
      expect(await server.kubectl("wait", ...args)).toContain("condition met");
    },
  );

  ownServerTest("repetitions of an Event become one series, which a stop writes", async () => {
    const bucket = await client.create(Bucket, { metadata: { namespace, name: "events" } });
    const recorder = new EventRecorder({ client, controller: "buckets", instance: "buckets-1" });
    const stop = new AbortController();
    const running = recorder.run(stop.signal);
    const event = { reason: "Full", action: "Write", note: "no space is left" } as const;
    recorder.record(bucket, { ...event, type: "Warning" });
    await poll(async () => (await eventsOf(bucket)).length > 0, {
      backoff: { duration: 20 },
      timeout: 30_000,
    });
    for (let i = 0; i < 4; i++) recorder.record(bucket, { ...event, type: "Warning" });
    recorder.record(bucket, { ...event, reason: "Emptied" });
    // The series waits for the end of its interval of 10 s.
    await realClock.sleep(1_000);
    stop.abort();
    await running;
    const events = (await eventsOf(bucket)).sort((a, b) =>
      `${b.reason}`.localeCompare(`${a.reason}`),
    );
    expect(events).toMatchObject([
      {
        ...{ type: "Warning", reason: "Full", note: "no space is left", series: { count: 5 } },
        reportingController: "buckets",
      },
      { type: "Normal", reason: "Emptied" },
    ]);
    const args = ["get", "events.events.k8s.io", "-n", namespace, "-o", "name"];
    expect((await server.kubectl(...args)).trim().split("\n")).toHaveLength(2);
  });
});

async function eventsOf({ metadata: { uid } }: Stored<BucketObject>) {
  const events: Stored<EventObject>[] = [];
  for await (const event of client.list(Event, { namespace }))
    if (event.regarding?.uid === uid) events.push(event);
  return events;
}

describe("credentials on a real server", () => {
  ownServerTest(
    "fromKubectl takes address, CA, token and namespace, and a rotated token",
    async () => {
      vi.stubEnv("KUBECONFIG", server.kubeconfig);
      try {
        const transport = fromKubectl({ kubectl: server.kubectlPath, logger: silentLogger });
        expect(transport.namespace).toBe("default");
        const own = new KubeClient({ transport });
        const ref = { namespace, name: "by-kubectl" };
        await own.create(Bucket, { metadata: ref });
        server.rotateToken();
        expect(await own.find(Bucket, ref)).toMatchObject({ metadata: ref });
        client = clientWith(server.adminToken);
      } finally {
        vi.unstubAllEnvs();
      }
    },
  );

  ownServerTest(
    "a user who may only read has informers, and a Forbidden for each write",
    async () => {
      const reader = clientWith(server.viewToken);
      const ref = { namespace, name: "forbidden" };
      const bucket = await client.create(Bucket, { metadata: ref });
      const writes = [
        () => reader.create(Bucket, { metadata: { namespace, name: "other" } }),
        () => reader.update(Bucket, bucket),
        () => reader.patch(Bucket, ref, { spec: { size: 2 } }),
        () => reader.apply(Bucket, { metadata: ref, spec: { size: 2 } }),
        () => reader.delete(Bucket, ref),
        () => ensureCrd(reader, crdOf("Honeydew", SIZE)),
        () =>
          finalize(reader, Bucket, bucket, `${GROUP}/one`, {
            apply: () => undefined,
            cleanup: () => undefined,
          }),
      ];
      for (const write of writes) {
        const error: unknown = await write().then(String, (reason: unknown) => reason);
        expect(isApiError(error, "Forbidden"), String(error)).toBe(true);
        expect(error).toMatchObject({ statusCode: 403 });
        expect(String(error)).toContain("the group view may only read");
        expect(JSON.stringify(error) + String(error)).not.toContain(server.viewToken);
      }
      const transport = atUrl(server.url, { ca: server.ca, token: () => server.viewToken });
      const cluster = new Cluster({ transport, logger: silentLogger });
      const buckets = cluster.watch(Bucket);
      const stop = new AbortController();
      const running = cluster.run(stop.signal);
      await cluster.ready(stop.signal);
      expect(buckets.get(ref)?.metadata.uid).toBe(bucket.metadata.uid);
      stop.abort();
      await running;
    },
  );
});
