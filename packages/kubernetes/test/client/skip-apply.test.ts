import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { FakeApi } from "@holdfast/fake-apiserver";
import { builtIn, Cluster, KubeClient, type Resource } from "@holdfast/kubernetes";
import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import { Counted, steps, Thing, takeSteps } from "./skip-apply-kit.ts";

const metadata = { name: "x", namespace: "default" };

describe("apply with cached", () => {
  it("sends nothing only if the server would change nothing, and then always once its kind is known", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const { clock, client, counted } = world();
        await clock.run(() => takeSteps(client, counted, { metadata, taken }));
      }),
      { numRuns: inject("isThorough") ? 1_000 : 15 },
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

  it.each([
    [{ struct: {} }, { struct: { a: "1" } }],
    [{ any: {} }, { any: { a: "1" } }],
    [{ any: {} }, { any: { a: {} } }],
    [{ any: {} }, { any: { a: [] } }],
    [{ any: {} }, { any: { a: { b: null } } }],
    [{ lists: {} }, { lists: { a: [] } }],
  ])(
    "asks for the members of a map that it applied empty, %j, and others have filled, %j",
    async (empty, filled) => {
      const { clock, api, client, counted } = world();
      await clock.run(async () => {
        await client.apply(Thing, { metadata, spec: empty });
        await api.client.patch(Thing, metadata, { spec: filled });
        const cached = await client.get(Thing, metadata);
        const applied = await client.apply(Thing, { metadata, spec: filled }, { cached });
        expect(applied.metadata.managedFields).not.toEqual(cached.metadata.managedFields);
        expect(counted.skipped).toEqual([]);
      });
    },
  );

  it.each([
    [{ wholeAny: { a: "1" } }, "skips"],
    [{ wholeAny: { a: null } }, "skips"],
    [{ wholeAny: { a: [] } }, "skips"],
    [{ wholeAny: { a: {} } }, "skips"],
    [{ wholeAny: { a: { b: {} } } }, "skips"],
    [{ any: { a: null } }, "sends"],
    [{ any: { a: [{ b: null }, {}] } }, "skips"],
  ])("applied twice, %j: %s the second, which changes nothing", async (spec, how) => {
    const { clock, client, counted } = world();
    await clock.run(async () => {
      const wanted = { metadata, spec };
      const first = await client.apply(Thing, wanted);
      expect(await client.apply(Thing, wanted, { cached: first })).toEqual(first);
      expect(counted.skipped.length).toBe(how === "skips" ? 1 : 0);
      expect(await client.apply(Thing, wanted)).toEqual(first);
    });
  });

  it("sends a list with an item more, and one less", async () => {
    const { clock, client, counted } = world();
    await clock.run(async () => {
      const applied = (set: string[]) => ({ metadata, spec: { set } });
      let cached = await client.apply(Thing, applied(["a"]));
      for (const set of [["a", "b"], ["b"]]) {
        cached = await client.apply(Thing, applied(set), { cached });
        expect(cached.spec).toEqual({ set });
      }
      expect(counted.skipped).toEqual([]);
    });
  });

  it("sends if the fields of its manager are those of a list of maps, and it applies texts", async () => {
    const { clock, client, counted } = world();
    await clock.run(async () => {
      const wanted = { metadata, spec: { any: { a: ["a", null] } } };
      const { metadata: stored, ...rest } = await client.apply(Thing, wanted);
      const managedFields = stored.managedFields?.map((entry) => ({
        ...entry,
        fieldsV1: { "f:spec": { "f:any": { "f:a": { 'k:{"name":"a"}': {}, 'v:"a"': {} } } } },
      }));
      const cached = { ...rest, metadata: { ...stored, managedFields } };
      expect(await client.apply(Thing, wanted, { cached })).toEqual({ ...rest, metadata: stored });
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
  const options = {
    transport: api.transport,
    clock,
    logger: silentLogger,
    metrics: counted.metrics,
  };
  return { clock, api, counted, client: new KubeClient(options), cluster: new Cluster(options) };
}
