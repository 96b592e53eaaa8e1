import type { Resource } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { ConfigMap, Deployment, Ingress, Service, Website } from "../../src/website/resources.ts";
import { child, home, spec, startPods, WebsiteWorld } from "./website-world.ts";

const HASH = "example.org/page-hash";

/** Runs a test in which the Website `home` has been there for a second. */
async function inWorld(test: (world: WebsiteWorld) => Promise<void>): Promise<void> {
  const world = new WebsiteWorld();
  await world.run(async () => {
    await world.api.client.create(Website, { metadata: home, spec });
    await world.clock.sleep(1_000);
    await test(world);
  });
}

describe("the Website operator", () => {
  it("makes four children, and a record outside", async () => {
    await inWorld(async ({ api: { client }, dns }) => {
      expect((await client.get(ConfigMap, child)).data).toEqual({ "index.html": spec.page });
      expect((await client.get(Service, child)).spec?.ports?.[0]?.port).toBe(80);
      expect((await client.get(Deployment, child)).spec?.replicas).toBe(2);
      expect((await client.get(Ingress, child)).spec?.rules?.[0]?.host).toBe(spec.host);
      const { uid } = (await client.get(Website, home)).metadata;
      expect([...dns.records]).toEqual([[uid, "www.example.org ingress.example.org"]]);
    });
  });

  it("has conditions of the generation that they are about", async () => {
    await inWorld(async (world) => {
      expect(await world.conditions()).toEqual([
        "Available=False Rolling",
        "Published=True RecordPut",
      ]);
      await startPods(world.api.client);
      await world.clock.sleep(1_000);
      expect(await world.conditions()).toEqual([
        "Available=True Serving",
        "Published=True RecordPut",
      ]);
      await world.api.client.patch(Website, home, { spec: { replicas: 3 } });
      await world.clock.sleep(1_000);
      expect(await world.conditions()).toEqual([
        "Available=False Rolling",
        "Published=True RecordPut",
      ]);
      const { metadata, status } = await world.site();
      expect(metadata.generation).toBe(2);
      expect(status?.conditions?.map((one) => one.observedGeneration)).toEqual([2, 2]);
    });
  });

  it("rolls the Pods when the page changes, and only then", async () => {
    await inWorld(async ({ api: { client }, clock }) => {
      const template = async () => (await client.get(Deployment, child)).spec?.template;
      const before = await template();
      await client.patch(Website, home, { spec: { replicas: 1 } });
      await clock.sleep(1_000);
      expect(await template()).toEqual(before);
      await client.patch(Website, home, { spec: { page: "<h1>Bye</h1>" } });
      await clock.sleep(1_000);
      expect((await template())?.metadata?.annotations?.[HASH]).not.toBe(
        before?.metadata?.annotations?.[HASH],
      );
    });
  });

  it("repairs a child that was deleted", async () => {
    await inWorld(async ({ api: { client }, clock }) => {
      await client.delete(Service, child);
      await clock.sleep(1_000);
      expect(await client.find(Service, child)).toBeDefined();
    });
  });

  it("moves the record with the host, and removes it before the object is gone", async () => {
    await inWorld(async ({ api: { client }, clock, dns }) => {
      await client.patch(Website, home, { spec: { host: "new.example.org" } });
      await clock.sleep(1_000);
      expect([...dns.records.values()]).toEqual(["new.example.org ingress.example.org"]);
      await client.delete(Website, home);
      await clock.sleep(1_000);
      expect([...dns.records]).toEqual([]);
      expect(await client.find(Website, home)).toBeUndefined();
    });
  });

  it("keeps an object whose record cannot be removed, and says so in an Event", async () => {
    await inWorld(async (world) => {
      const { client } = world.api;
      world.dns.isDown = true;
      await client.delete(Website, home);
      await world.clock.sleep(60_000);
      expect((await world.site()).metadata.finalizers).toEqual(["example.org/dns"]);
      expect(await world.events()).toEqual([
        "RecordPut: www.example.org points to ingress.example.org",
        "ReconcileFailed: the provider is down",
      ]);
      world.dns.isDown = false;
      await world.clock.sleep(120_000);
      expect(await client.find(Website, home)).toBeUndefined();
      expect([...world.dns.records]).toEqual([]);
    });
  });

  it.each([ConfigMap, Service, Deployment, Ingress] as Resource[])(
    "leaves a foreign $kind of the same name alone until it is gone",
    async (resource) => {
      const world = new WebsiteWorld();
      const { client } = world.api;
      await world.run(async () => {
        const foreign = await client.create(resource, { metadata: child });
        await client.create(Website, { metadata: home, spec });
        await world.clock.sleep(1_000);
        expect(await world.conditions()).toEqual(["Available=False NameTaken"]);
        expect(await client.get(resource, child)).toEqual(foreign);
        expect(await world.events()).toEqual([
          `NameTaken: website-home is a ${resource.kind} of another owner`,
        ]);
        await client.delete(resource, child);
        await world.clock.sleep(60_000);
        expect(await world.conditions()).toContain("Published=True RecordPut");
      });
    },
  );
});
