import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import {
  builtIn,
  Cluster,
  EventRecorder,
  ensureCrd,
  finalize,
  fromCrd,
  type KubeClient,
  type KubeObject,
  type KubeTransport,
  ownConditions,
  ownerReference,
  type StatusCondition,
  type StoredObject,
} from "@holdfast/kubernetes";
import { poll } from "@holdfast/wait";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Bucket, type BucketObject, crdOf, GROUP, SIZE } from "./bucket.ts";
import { NamedCluster } from "./named-cluster.ts";

interface EventObject extends KubeObject {
  regarding?: { name?: string; uid?: string };
  series?: { count: number };
  type?: string;
  reason?: string;
  note?: string;
  reportingController?: string;
}
const Event = builtIn<EventObject>("events.k8s.io/v1", "Event");

const Definition = builtIn<KubeObject>("apiextensions.k8s.io/v1", "CustomResourceDefinition");

let named: NamedCluster;
let client: KubeClient;
let namespace: string;

beforeAll(async () => {
  named = await NamedCluster.open();
  ({ client, namespace } = named);
  await ensureCrd(client, crdOf("Bucket", SIZE));
});

afterAll(async () => {
  for await (const { metadata } of client.list(Definition))
    if (metadata.name.endsWith(`.${GROUP}`)) await client.delete(Definition, metadata.name);
  await named[Symbol.asyncDispose]();
});

describe("ensureCrd on any cluster", () => {
  test("resolves when objects can be listed, created and watched", async () => {
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

  test("adds a field and a version to a definition, and keeps labels of others", async () => {
    const manifest = crdOf("Fig", SIZE);
    await ensureCrd(client, manifest);
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
  });

  test("succeeds in every one of several replicas at once", async () => {
    const five = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 5 }, work));
    // Each has a connection: else the first one is done before the others begin.
    await five(() => client.find(Bucket, { namespace, name: "none" }));
    for (const kind of ["Grape", "Lemon", "Mango"]) {
      const all = await five(() => ensureCrd(client, crdOf(kind, SIZE)));
      expect(new Set(all.map(({ metadata }) => metadata.uid)).size).toBe(1);
    }
  });

  test("rejects when another definition has the kind", async () => {
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

describe("finalize on any cluster", () => {
  test("keeps the finalizers of two owners who act at once", async () => {
    const owners = [`${GROUP}/one`, `${GROUP}/two`];
    const outside = new Map(owners.map((owner) => [owner, new Set<string>()]));
    const cleaned: string[] = [];
    const both = (buckets: readonly StoredObject<BucketObject>[]) =>
      Promise.all(
        buckets.flatMap((bucket) =>
          owners.map((owner) =>
            finalize(client, Bucket, bucket, {
              finalizer: owner,
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

  test("keeps an object while its cleanup fails, and lets it go after", async () => {
    const ref = { namespace, name: "unclean" };
    const finalizer = `${GROUP}/one`;
    const options = { finalizer, apply: () => undefined, cleanup: () => undefined };
    const created = await client.create(Bucket, { metadata: ref });
    await finalize(client, Bucket, created, options);
    await client.delete(Bucket, ref);
    const dying = await client.get(Bucket, ref);
    const cleanup = (): never => {
      throw new Error("the provider is away");
    };
    const failing = finalize(client, Bucket, dying, { ...options, cleanup });
    await expect(failing).rejects.toThrow("the provider is away");
    expect((await client.get(Bucket, ref)).metadata.finalizers).toEqual([`${GROUP}/one`]);
    // Another owner comes too late: the server takes no new finalizer.
    const apply = vi.fn();
    await finalize(client, Bucket, dying, { ...options, finalizer: `${GROUP}/late`, apply });
    expect(apply).not.toHaveBeenCalled();
    await finalize(client, Bucket, dying, options);
    expect(await client.find(Bucket, ref)).toBeUndefined();
  });
});

describe("writes on any cluster", () => {
  test("are as strict about unknown fields as the caller asks", async () => {
    const wrong = { metadata: { namespace, name: "strict" }, spec: { size: 1, unknown: 1 } };
    const strict = { fieldValidation: "Strict" } as const;
    await expect(client.create(Bucket, wrong, strict)).rejects.toMatchObject({
      reason: "BadRequest",
    });
    await client.create(Bucket, wrong, { fieldValidation: "Ignore" });
    const patch = { spec: { unknown: 1 } } as object;
    await expect(client.patch(Bucket, wrong.metadata, patch, strict)).rejects.toMatchObject({
      reason: "Invalid",
    });
    await client.delete(Bucket, wrong.metadata, { gracePeriodSeconds: 0 });
    expect(await client.find(Bucket, wrong.metadata)).toBeUndefined();
  });

  test("delete a collection by selectors", async () => {
    for (const [name, app] of Object.entries({ one: "x", two: "y", three: "x" }))
      await client.create(Bucket, { metadata: { namespace, name, labels: { app } } });
    const left = async (): Promise<string[]> => {
      const names: string[] = [];
      for await (const { metadata } of client.list(Bucket, { namespace }))
        if (metadata.labels?.["app"] !== undefined) names.push(metadata.name);
      return names;
    };
    await client.deleteCollection(Bucket, { namespace, labels: { app: "x" }, dryRun: true });
    expect(await left()).toEqual(["one", "three", "two"]);
    await client.deleteCollection(Bucket, { namespace, labels: { app: "x" } });
    expect(await left()).toEqual(["two"]);
    await client.deleteCollection(Bucket, { namespace, fields: { "metadata.name": "two" } });
    expect(await left()).toEqual([]);
  });
});

describe("conditions and Events on any cluster", () => {
  test("a condition passes the schema of Kubernetes; a repeated one writes nothing", async () => {
    const ref = { namespace, name: "conditions" };
    await client.create(Bucket, { metadata: ref });
    const set = async (status: "True" | "False", now: number) => {
      const { status: before } = await client.get(Bucket, ref);
      const ready = { type: "Ready", status, reason: "Synced", observedGeneration: 1 } as const;
      const conditions = ownConditions(before?.conditions, [ready], new FakeClock({ now }));
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
    const args = ["bucket/conditions", "--for=condition=Ready", "--timeout=60s", "-n", namespace];
    expect(await named.kubectl("wait", ...args)).toContain("condition met");
  });

  test("an applier with a stale read leaves the newer condition of another as it is, and that one's alone", async () => {
    const ref = { namespace, name: "shared" };
    await client.create(Bucket, { metadata: ref });
    const applyBy = async (
      fieldManager: string,
      seen: readonly StatusCondition[] | undefined,
      own: Parameters<typeof ownConditions>[1],
    ) => {
      const update = { metadata: ref, status: { conditions: ownConditions(seen, own) } };
      const options = { subresource: "status", fieldManager };
      return (await client.apply(Bucket, update, options)).status?.conditions;
    };
    const billed = { type: "Billed", status: "True", reason: "Paid" } as const;
    const ready = { type: "Ready", status: "True", reason: "Synced" } as const;
    const stale = await applyBy("billing", [], [billed]);
    await applyBy("billing", stale, [{ ...billed, status: "False", reason: "Overdue" }]);
    const both = await applyBy("buckets", stale, [ready]);
    expect(both?.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      "Billed Overdue",
      "Ready Synced",
    ]);
    expect((await applyBy("billing", both, []))?.map(({ type }) => type)).toEqual(["Ready"]);
  });

  test("a server takes an owner in another namespace, which the client refuses", async () => {
    const owner = await client.create(Bucket, { metadata: { namespace, name: "owner" } });
    const metadata = {
      name: "child",
      namespace: "default",
      ownerReferences: [ownerReference(Bucket, owner)],
    };
    await expect(client.create(Bucket, { metadata })).rejects.toThrow(
      `Bucket default/child is in another namespace: it must not be owned by Bucket ${namespace}/owner`,
    );
    const { apiVersion, kind } = Bucket;
    const path = `/apis/${apiVersion}/namespaces/default/buckets`;
    const body = { apiVersion, kind, metadata };
    await client.request({ method: "POST", path, query: { dryRun: "All" }, body });
  });

  test("an informer that a gateway answers with 429 and a second each time asks less and less often", async () => {
    const times: number[] = [];
    let isBusy = true;
    const { transport } = named;
    const busy: KubeTransport = {
      ...transport,
      send: async (request, signal) => {
        const isWatch = request.path.includes("watch=true");
        if (!isWatch || !isBusy) return await transport.send(request, signal);
        times.push(realClock.monotonic());
        isBusy = times.length < 4;
        const body = (async function* () {})();
        return { status: 429, headers: { "retry-after": "1" }, body };
      },
    };
    const cluster = new Cluster({ transport: busy, random: () => 0 });
    const buckets = cluster.watch(Bucket, { namespaces: [namespace] });
    const stop = new AbortController();
    const running = cluster.run(stop.signal);
    await cluster.ready(stop.signal);
    const created = await client.create(Bucket, { metadata: { namespace, name: "late" } });
    await poll(() => buckets.get(created.metadata) !== undefined, { backoff: { duration: 20 } });
    stop.abort();
    await running;
    const [first = 0, second = 0, third = 0, fourth = 0] = times;
    // At least 1 s, 1 s and 1.6 s: the named time, or the backoff of 0.8 s that doubles, less its jitter.
    expect(second - first).toBeGreaterThan(990);
    expect(third - second).toBeGreaterThan(990);
    expect(fourth - third).toBeGreaterThan(1_590);
  });

  test("repetitions of an Event become one series, which a stop writes", async () => {
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
        type: "Warning",
        reason: "Full",
        note: "no space is left",
        series: { count: 5 },
        reportingController: "buckets",
      },
      { type: "Normal", reason: "Emptied" },
    ]);
    const args = ["get", "events.events.k8s.io", "-n", namespace, "-o", "name"];
    expect((await named.kubectl(...args)).trim().split("\n")).toHaveLength(2);
  });
});

async function eventsOf({ metadata: { uid } }: StoredObject<BucketObject>) {
  const events: StoredObject<EventObject>[] = [];
  for await (const event of client.list(Event, { namespace }))
    if (event.regarding?.uid === uid) events.push(event);
  return events;
}
