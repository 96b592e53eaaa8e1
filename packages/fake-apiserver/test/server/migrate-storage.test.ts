import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { fromCrd, type KubeObject, migrateStorage } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { Crd, migratedStorage, STORES_V1, STORES_V2 } from "../../../../test/migrated-storage.ts";
import { ExploredApi } from "../../src/explore/explored-api.ts";

it("moves objects to another stored version as a server does, and removes the first one", async () => {
  const api = new ExploredApi({
    clock: new FakeClock(),
    resources: [STORES_V1.v1, STORES_V1.v2, Crd],
  });
  const { client } = api;
  const named = STORES_V1.crd as KubeObject & { spec: object };
  await client.create(Crd, named as never);
  const name = "mirrors.holdfast.example.org";
  const stored = { status: { storedVersions: ["v1"] } };
  await client.patch(Crd, name, stored, { subresource: "status" });
  await migratedStorage(client, async ({ crd }) => {
    const { spec } = crd as {
      spec: { versions: { name: string; served: boolean; storage: boolean }[] };
    };
    api.serve([
      ...spec.versions.filter((one) => one.served).map((one) => fromCrd(crd, one.name)),
      Crd,
    ]);
    await client.modify(Crd, name, (object) => void Object.assign(object.spec, spec));
    const before = (await client.get(Crd, name)).status?.storedVersions ?? [];
    const storage = spec.versions.find((one) => one.storage)?.name as string;
    const storedVersions = [...new Set([...before, storage])];
    await client.patch(Crd, name, { status: { storedVersions } }, { subresource: "status" });
  });
});

describe("migrateStorage", () => {
  const NAME = "mirrors.holdfast.example.org";
  const names = Array.from({ length: 9 }, (_, index) => `m${index}`);

  /** Nine objects stored as v1, on a server that stores v2 from now on. */
  async function flipped() {
    const clock = new FakeClock();
    const start = clock.now();
    const resources = [STORES_V1.v1, STORES_V1.v2, Crd];
    const api = new ExploredApi({ clock, resources });
    await api.client.create(Crd, STORES_V2.crd as never);
    const status = { storedVersions: ["v1", "v2"] };
    await api.client.patch(Crd, NAME, { status }, { subresource: "status" });
    for (const name of names)
      await api.client.create(STORES_V1.v1, {
        metadata: { namespace: "default", name },
        spec: { url: "u" },
      });
    api.serve([STORES_V2.v1, STORES_V2.v2, Crd]);
    const lines: string[] = [];
    const log = (_: object, message = "") =>
      void lines.push(`${(clock.now() - start) / 1_000}: ${message}`);
    const logger = { ...silentLogger, info: log, warn: log };
    const work = (more: object = {}, options: object = {}) =>
      migrateStorage(STORES_V2, { client: api.client, clock, logger, ...more }, options);
    const patches = () =>
      api.requests.filter(({ verb, subresource }) => verb === "patch" && subresource === "status")
        .length - 1;
    return { api, clock, lines, work, patches };
  }

  it("waits a minute after the flip, writes each object, looks again, and ends on abort", async () => {
    const { api, clock, lines, work, patches } = await flipped();
    const stop = new AbortController();
    await clock.run(async () => {
      const running = work().run(stop.signal);
      await clock.sleep(59_999);
      expect(patches()).toBe(0);
      await clock.sleep(1);
      await clock.sleep(1);
      expect(patches()).toBe(2 * names.length + 1);
      expect((await api.client.get(Crd, NAME)).status?.storedVersions).toEqual(["v2"]);
      expect(lines).toEqual(["0: storage is migrated in a minute", "60: storage migrated"]);
      const before = api.requests.length;
      await clock.sleep(3_600_000);
      expect(api.requests.length).toBe(before);
      stop.abort();
      await running;
    });
    expect(clock.waiters()).toBe(0);
  });

  it("starts over after a kill, and writes only what is left", async () => {
    const { api, clock, work } = await flipped();
    await clock.run(async () => {
      const first = new AbortController();
      const counted = {
        migrated: () => {
          if (++written === 3) first.abort();
        },
      };
      let written = 0;
      await work({ metrics: counted })
        .run(first.signal)
        .catch(() => undefined);
      const version = async () =>
        Number((await api.client.list(STORES_V2.v2).next()).value?.metadata.resourceVersion);
      expect(await version()).toBeGreaterThan(0);
      const states = async () => {
        const found: string[] = [];
        for await (const { metadata } of api.client.list(STORES_V2.v2))
          found.push(metadata.resourceVersion);
        return found;
      };
      const before = await states();
      const second = new AbortController();
      const running = work().run(second.signal);
      await clock.sleep(60_001);
      const after = await states();
      const same = after.filter((one) => before.includes(one)).length;
      expect(same).toBeGreaterThanOrEqual(3);
      expect(same).toBeLessThan(names.length);
      expect((await api.client.get(Crd, NAME)).status?.storedVersions).toEqual(["v2"]);
      second.abort();
      await running;
    });
  });

  it("looks at once at an object that was written meanwhile, and not at all others again", async () => {
    const { api, clock, lines, work } = await flipped();
    const stop = new AbortController();
    const busy = { namespace: "default", name: "m4" };
    let writes = 0;
    await clock.run(async () => {
      // A user who is faster each time, for a while.
      const client = {
        get: api.client.get.bind(api.client),
        list: api.client.list.bind(api.client),
        patch: async (...args: Parameters<typeof api.client.patch>) => {
          if (args[1] === "default/m4" && writes < 20) {
            writes += 1;
            await api.client.patch(STORES_V2.v2, busy, { spec: { url: `w${writes}` } });
          }
          return await api.client.patch(...args);
        },
      };
      const running = work({ client }, { retire: ["v1"] }).run(stop.signal);
      await clock.sleep(60_001);
      expect(lines.at(-1)).toBe("60: storage migrated");
      stop.abort();
      await running.catch(() => undefined);
    });
    expect(writes).toBe(20);
    const patched = (name: string) =>
      api.requests.filter((request) => request.verb === "patch" && request.name === name).length;
    expect(patched("m4")).toBe(20 + 22);
    expect(patched("m5")).toBe(2);
    const { metadata } = await api.client.get(STORES_V2.v2, busy);
    const entries = (metadata.managedFields ?? []) as { apiVersion: string }[];
    expect(new Set(entries.map(({ apiVersion }) => apiVersion))).toEqual(
      new Set(["holdfast.example.org/v2"]),
    );
  });

  it("keeps the list of versions while an object fails, and tries again after a minute", async () => {
    const { api, clock, lines, work } = await flipped();
    const facts: string[] = [];
    const metrics = { migrated: (...fact: string[]) => void facts.push(fact.join(" ")) };
    api.intercept({
      verbs: ["patch"],
      when: ({ name }) => name === "m4",
      fault: { type: "status", status: 500 },
      times: 1,
    });
    const stop = new AbortController();
    await clock.run(async () => {
      const running = work({ metrics }).run(stop.signal);
      await clock.sleep(61_000);
      expect(facts.filter((fact) => fact.endsWith("failed"))).toEqual([`${NAME} failed`]);
      expect((await api.client.get(Crd, NAME)).status?.storedVersions).toEqual(["v1", "v2"]);
      await clock.sleep(60_000);
      expect((await api.client.get(Crd, NAME)).status?.storedVersions).toEqual(["v2"]);
      expect(lines).toEqual([
        "0: storage is migrated in a minute",
        "60: storage not migrated; tried again in a minute",
        "120: storage migrated",
      ]);
      stop.abort();
      await running;
    });
  });

  it("leaves alone a server that stores another version", async () => {
    const { api, clock, patches } = await flipped();
    const stop = new AbortController();
    await clock.run(async () => {
      const { client } = api;
      const work = migrateStorage(STORES_V1, { client, clock, logger: silentLogger });
      const running = work.run(stop.signal);
      await clock.sleep(600_000);
      expect(patches()).toBe(0);
      stop.abort();
      await running.catch(() => undefined);
    });
  });

  it("names the option that it refuses", async () => {
    const { work } = await flipped();
    expect(() => work({}, { retire: ["v2"] })).toThrow(
      'options.retire[0] must be a version besides the stored one (v1), got "v2"',
    );
    expect(() => work({}, { retire: "v1" })).toThrow("options.retire must be an array");
    expect(() => work({ client: {} })).toThrow("context.client must have a method get()");
    expect(() => migrateStorage(STORES_V1.v1 as never, {} as never)).toThrow(
      "resource must be made by customResource with versions",
    );
  });
});
