import { FakeClock } from "@holdfast/clock/testing";
import type { Logger } from "@holdfast/controller";
import {
  builtIn,
  Cluster,
  fromCrd,
  isApiError,
  type KubeApplyOptions,
  KubeClient,
  type KubeObject,
  type KubernetesMetrics,
  type Resource,
} from "@holdfast/kubernetes";
import { FakeApi } from "@holdfast/kubernetes/testing";
import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";

const text = { type: "string" };
const object = (properties: object, more: object = {}): object => ({
  type: "object",
  properties,
  ...more,
});
const listOf = (items: object, more: object = {}): object => ({ type: "array", items, ...more });
const atomic = { "x-kubernetes-map-type": "atomic" };
const byName = {
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name", "protocol"],
};
const port = object(
  {
    name: text,
    protocol: { type: "string", default: "TCP" },
    labels: object({}, { additionalProperties: text }),
    selector: object({}, { additionalProperties: text, ...atomic }),
  },
  { required: ["name"] },
);

/** A field of each form that Kubernetes merges in its own way. */
const Thing: Resource<KubeObject & { spec?: object; status?: object }> = fromCrd({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.example.org" },
  spec: {
    group: "example.org",
    scope: "Namespaced",
    names: { kind: "Thing", plural: "things" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: object({
            spec: object({
              text,
              map: object({}, { additionalProperties: text }),
              struct: object({ a: text, b: text }),
              whole: object({ a: text, b: text }, atomic),
              list: listOf(text),
              set: listOf(text, { "x-kubernetes-list-type": "set" }),
              ports: listOf(port, byName),
              lists: object({}, { additionalProperties: listOf(port, byName) }),
              any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
            }),
            status: object({ text }),
          }),
        },
      },
    ],
  },
});

const word = fc.constantFrom("a", "b");
const texts = fc.dictionary(word, word, { maxKeys: 2 });
const words = fc.uniqueArray(word);

const ports = fc.uniqueArray(
  fc.record(
    { name: word, protocol: fc.constantFrom("TCP", "UDP"), labels: texts, selector: texts },
    { requiredKeys: ["name"] },
  ),
  { selector: ({ name, protocol = "TCP" }) => `${name} ${protocol}`, maxLength: 3 },
);
const spec = fc.record(
  {
    text: word,
    map: texts,
    struct: texts,
    whole: texts,
    list: words,
    set: words,
    ports: ports,
    lists: fc.dictionary(word, ports, { maxKeys: 2 }),
    any: fc.dictionary(word, fc.oneof(word, texts, words, fc.dictionary(word, words)), {
      maxKeys: 2,
    }),
  },
  { requiredKeys: [] },
);
const applied = fc.record({ labels: texts, spec }, { requiredKeys: ["spec"] });
const step = fc.record({
  manager: fc.constantFrom("holdfast", "other"),
  how: fc.constantFrom("apply", "apply", "apply", "update"),
  applied,
});

class Counted {
  skipped: string[] = [];
  readonly metrics: KubernetesMetrics = {
    requested: () => {},
    listed: () => {},
    watchEnded: () => {},
    rejected: () => {},
    applySkipped: (resource) => this.skipped.push(resource),
  };
}

/** Whether there is a list or a map without members: others may own some, so that the server is asked. */
function hasEmpty(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const members = Object.values(value);
  return members.length === 0 || members.some(hasEmpty);
}

/** A map that its owner has emptied is null, which the schema may refuse. */
const invalid = (error: unknown): undefined => {
  if (!isApiError(error, "Invalid")) throw error;
};

const logger = { info() {}, warn() {}, error() {}, debug() {} } as unknown as Logger;
const metadata = { name: "x", namespace: "default" };

describe("apply with cached", () => {
  it("sends nothing only if the server would change nothing, and then always once its kind is known", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        const clock = new FakeClock();
        const api = new FakeApi({ clock, resources: [Thing] });
        const counted = new Counted();
        const { metrics } = counted;
        const client = new KubeClient({ transport: api.transport, clock, logger, metrics });
        await clock.run(async () => {
          for (const { manager, how, applied: given } of steps) {
            const wanted = { metadata: { ...metadata, labels: given.labels }, spec: given.spec };
            if (how === "update" && (await client.find(Thing, metadata)) !== undefined) {
              const change = (one: KubeObject & { spec?: object }) =>
                Object.assign(one, { spec: { ...one.spec, ...given.spec } });
              await client
                .modify(Thing, metadata, change, { fieldManager: manager })
                .catch(invalid);
              continue;
            }
            const options: KubeApplyOptions = { fieldManager: manager };
            for (let round = 0; round < 2; round++) {
              const cached = await client.find(Thing, metadata);
              const before = counted.skipped.length;
              const apply = (more: KubeApplyOptions) =>
                client.apply(Thing, wanted, { ...options, ...more }).catch(invalid);
              const sent = await apply({ cached });
              const isSkipped = counted.skipped.length > before;
              const truth = await apply({});
              // Exact: what was skipped changes nothing.
              if (isSkipped) expect(truth).toEqual(cached);
              if (isSkipped) expect(sent).toEqual(cached);
              // Complete: a repetition is skipped.
              if (round === 1 && !hasEmpty(given) && truth !== undefined)
                expect(isSkipped).toBe(true);
            }
          }
        });
      }),
      { numRuns: inject("isThorough") ? 1_000 : 40 },
    );
  });

  it("skips for an object of an informer, counts it by resource, and asks for what others have changed", async () => {
    const { clock, api, counted, cluster } = world();
    const things = cluster.watch(Thing);
    const stop = new AbortController();
    await clock.run(async () => {
      const running = cluster.run(stop.signal);
      const apply = (color: string) =>
        cluster.client.apply(
          Thing,
          { metadata, spec: { text: color, list: ["a"] } },
          { cached: things.get("default/x") },
        );
      await cluster.ready(stop.signal);
      const created = await apply("a");
      expect(await apply("a")).toEqual(things.get("default/x"));
      expect(counted.skipped).toEqual(["things.example.org"]);
      expect((await apply("b")).metadata.resourceVersion).not.toBe(
        created.metadata.resourceVersion,
      );
      await api.client.patch(Thing, "default/x", { spec: { text: "c" } });
      await clock.sleep(1_000);
      await apply("b");
      expect((await api.client.get(Thing, "default/x")).spec).toEqual({ text: "b", list: ["a"] });
      await apply("b");
      await api.client.patch(Thing, "default/x", { status: { text: "x" } });
      await api.client.patch(Thing, "default/x", { metadata: { labels: { of: "others" } } });
      await clock.sleep(1_000);
      await apply("b");
      expect(counted.skipped.length).toBe(3);
      stop.abort();
      await running;
    });
    expect(clock.waiters()).toBe(0);
  });

  it("skips an apply of the status, and with owned also the read of the owner", async () => {
    const { clock, api, client, counted } = world();
    await clock.run(async () => {
      const owner = { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "1", controller: true };
      const wanted = { metadata: { ...metadata, ownerReferences: [owner] }, spec: { text: "a" } };
      const status = { metadata, status: { text: "b" } };
      for (let round = 0; round < 2; round++) {
        const cached = await client.find(Thing, metadata);
        await client.apply(Thing, wanted, { cached, owned: true });
        const before = await client.find(Thing, metadata);
        await client.apply(Thing, status, { subresource: "status", cached: before });
      }
      expect(counted.skipped.length).toBe(2);
      expect(api.requests.filter(({ method }) => method === "PATCH").length).toBe(2);
    });
  });

  it("asks for the members of a map that it applied empty and others have filled", async () => {
    const { clock, api, client, counted } = world();
    await clock.run(async () => {
      await client.apply(Thing, { metadata, spec: { struct: {} } });
      await api.client.patch(Thing, metadata, { spec: { struct: { a: "1" } } });
      const cached = await client.get(Thing, metadata);
      await client.apply(Thing, { metadata, spec: { struct: { a: "1" } } }, { cached });
      expect(counted.skipped).toEqual([]);
    });
  });

  it("rejects with signal.reason when aborted, and refuses an object of another name", async () => {
    const { clock, client } = world();
    await clock.run(async () => {
      const wanted = { metadata, spec: { text: "a" } };
      const cached = await client.apply(Thing, wanted);
      const signal = AbortSignal.abort("bye");
      await expect(client.apply(Thing, wanted, { cached, signal })).rejects.toBe("bye");
      const other = { ...wanted, metadata: { ...metadata, name: "y" } };
      await expect(client.apply(Thing, other, { cached })).rejects.toThrow(
        'options.cached.metadata.name must be that of the object, "y", got "x"',
      );
    });
  });

  it("asks for a built-in kind until its lists that are owned as a whole are known", async () => {
    const { clock, api, client, counted } = world();
    await clock.run(async () => {
      const container = {
        name: "web",
        image: "web:1",
        args: ["a"],
        env: [{ name: "A", value: "1" }],
      };
      const deployment = (name: string, args: string[]) => ({
        metadata: { name, namespace: "default" },
        spec: { template: { spec: { containers: [{ ...container, args }] } } },
      });
      for (const name of ["x", "y"])
        await api.client.apply(Deployment, deployment(name, ["a"]), { fieldManager: "holdfast" });
      const ask = async (name: string, args: string[]) =>
        await client.apply(Deployment, deployment(name, args), {
          cached: await client.get(Deployment, { name, namespace: "default" }),
        });
      await ask("x", ["a"]);
      expect(counted.skipped).toEqual([]);
      await ask("y", ["a"]);
      expect(counted.skipped).toEqual(["deployments.apps"]);
      expect((await ask("y", ["b"])).metadata.generation).toBe(2);
    });
  });
});

const Deployment: Resource = builtIn("apps/v1", "Deployment");

function world() {
  const clock = new FakeClock();
  const api = new FakeApi({ clock, resources: [Thing, Deployment] });
  const counted = new Counted();
  const options = { transport: api.transport, clock, logger, metrics: counted.metrics };
  return { clock, api, counted, client: new KubeClient(options), cluster: new Cluster(options) };
}
