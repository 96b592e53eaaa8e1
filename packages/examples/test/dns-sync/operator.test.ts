import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { slotOf } from "@holdfast/controller";
import { describe, expect, it } from "vitest";
import { DnsRecord, DnsZone } from "../../src/dns-sync/operator/resources.ts";
import { Lease, OperatorWorld } from "./operator-world.ts";

const OPERATOR = fileURLToPath(new URL("../../src/dns-sync/operator/", import.meta.url));

describe("the sources of the operator", () => {
  const files = readdirSync(OPERATOR).map((name) => readFileSync(`${OPERATOR}${name}`, "utf8"));

  it("import only public entry points and one another", () => {
    const imports = files.flatMap((text) => [...text.matchAll(/from "([^"]+)"/g)]);
    const others = imports
      .map(([, name = ""]) => name)
      .filter(
        (name) =>
          !/^(node:url|\.\/[a-z-]+\.ts|@holdfast\/(clock|wait|controller|kubernetes))$/.test(name),
      );
    expect(others).toEqual([]);
  });
});

describe("a DnsRecord", () => {
  it("is synced with the ttl of its zone, and its status is Ready", async () => {
    const world = new OperatorWorld();
    world.start();
    await world.run(async () => {
      await world.zone();
      await world.record("www");
      await world.clock.sleep(10_000);
      expect(world.remote).toEqual(["www.example.org A 192.0.2.1 60"]);
      const { status, metadata } = await world.api.client.get(DnsRecord, "default/www");
      expect(status?.conditions).toMatchObject([
        {
          type: "Ready",
          status: "True",
          reason: "Synced",
          observedGeneration: metadata.generation,
        },
      ]);
      expect(metadata.finalizers).toEqual(["dns.example.org/remote"]);
      expect(await world.events()).toEqual([]);
    });
    expect(world.clock.waiters()).toBe(0);
  });

  it("follows a changed spec and removes the record with the earlier name and type", async () => {
    const world = new OperatorWorld();
    world.start();
    await world.run(async () => {
      await world.zone();
      await world.record("www");
      await world.clock.sleep(10_000);
      const spec = { host: "web", type: "TXT", value: "hello", ttl: 30 };
      await world.api.client.patch(DnsRecord, "default/www", { spec });
      await world.clock.sleep(1_000);
      expect(world.remote).toEqual(["web.example.org TXT hello 30"]);
    });
  });

  it("follows a changed zone", async () => {
    const world = new OperatorWorld();
    world.start();
    await world.run(async () => {
      await world.zone();
      await world.record("www");
      await world.record("own", { ttl: 5_000 });
      await world.clock.sleep(10_000);
      await world.api.client.patch(DnsZone, "default/web", {
        spec: { domain: "example.com", ttl: 90 },
      });
      await world.clock.sleep(1_000);
      expect(world.remote).toEqual([
        "own.example.com A 192.0.2.1 5000",
        "www.example.com A 192.0.2.1 90",
      ]);
    });
  });

  it("keeps its finalizer until the remote record is deleted", async () => {
    const world = new OperatorWorld();
    world.start();
    await world.run(async () => {
      await world.zone();
      await world.record("www");
      await world.clock.sleep(10_000);
      world.provider.fault = "outage";
      await world.api.client.delete(DnsRecord, "default/www");
      await world.clock.sleep(60_000);
      expect(await world.stateOf("www")).toMatchObject([
        "Retrying",
        expect.stringContaining("HTTP 503"),
      ]);
      expect(world.remote).toHaveLength(1);
      world.provider.fault = undefined;
      await world.clock.sleep(20_000);
      expect(await world.api.client.find(DnsRecord, "default/www")).toBeUndefined();
      expect(world.remote).toEqual([]);
    });
  });

  it("is restored within 0.6 of its ttl after a change at the provider", async () => {
    const world = new OperatorWorld();
    world.start();
    await world.run(async () => {
      await world.zone();
      const owner = await world.record("www");
      await world.clock.sleep(10_000);
      for (const change of ["overwrite", "drop"] as const) {
        const [record] = world.provider.records.of(owner);
        if (record !== undefined)
          world.provider.records[change]({ ...record, value: "203.0.113.9" });
        expect(world.remote).not.toEqual(["www.example.org A 192.0.2.1 60"]);
        await world.clock.sleep(37_000);
        expect(world.remote).toEqual(["www.example.org A 192.0.2.1 60"]);
      }
    });
  });

  it("shares a limit of 100 requests per second, after a burst of 20, with all records", async () => {
    const world = new OperatorWorld();
    await world.run(async () => {
      await world.zone();
      for (let index = 0; index < 100; index++) await world.record(`r${index}`);
      world.start();
      while (world.provider.requests === 0) await world.clock.sleep(10);
      await world.clock.sleep(1_000);
      expect(world.provider.requests).toBeGreaterThan(115);
      expect(world.provider.requests).toBeLessThanOrEqual(121);
      await world.clock.sleep(3_000);
      expect(world.provider.records.size).toBe(100);
      expect(world.provider.requests).toBe(200);
      expect(world.provider.overQuota).toBe(0);
    });
  });
});

describe("two replicas", () => {
  it("hand over: the provider refuses a delayed write of the former leader", async () => {
    const world = new OperatorWorld();
    const stopFirst = world.start("one");
    await world.run(async () => {
      await world.zone();
      await world.record("www");
      await world.clock.sleep(10_000);
      world.start("two");
      const late = world.holdNextWrite();
      await world.api.client.patch(DnsRecord, "default/www", { spec: { value: "192.0.2.2" } });
      const token = await late.token();
      await stopFirst();
      await world.clock.sleep(20_000);
      expect(world.remote).toEqual(["www.example.org A 192.0.2.2 60"]);
      await world.api.client.patch(DnsRecord, "default/www", { spec: { value: "192.0.2.3" } });
      await world.clock.sleep(1_000);
      late.arrive();
      await world.clock.sleep(1_000);
      expect(world.remote).toEqual(["www.example.org A 192.0.2.3 60"]);
      expect(world.provider.refused).toBe(1);
      const { metadata } = await world.api.client.get(Lease, "dns-sync/dns-sync");
      expect(Number(metadata.annotations?.["holdfast/token"])).toBeGreaterThan(token);
    });
  });
});

describe("replicas that share the slots", () => {
  const SLOTS = 4;
  const NAMES = Array.from({ length: 24 }, (_, index) => `r${index}`);

  async function tokens(world: OperatorWorld): Promise<number[]> {
    const found: number[] = [];
    for (let number = 0; number < SLOTS; number++) {
      const lease = await world.api.client.get(Lease, `dns-sync/dns-sync-slot-${number}`);
      found.push(Number(lease.metadata.annotations?.["holdfast/token"]));
    }
    return found;
  }

  it("sync every record, although the tokens of their slots differ", async () => {
    const world = new OperatorWorld();
    world.start("one", world.api.transport, SLOTS);
    await world.run(async () => {
      await world.zone();
      for (const name of NAMES) await world.record(name);
      await world.clock.sleep(10_000);
      world.start("two", world.api.transport, SLOTS);
      await world.clock.sleep(60_000);
      const before = await tokens(world);
      expect(new Set(before).size).toBeGreaterThan(1);
      for (const name of NAMES)
        await world.api.client.patch(DnsRecord, `default/${name}`, {
          spec: { value: "192.0.2.2" },
        });
      await world.clock.sleep(10_000);
      expect(world.remote).toEqual(
        NAMES.map((name) => `${name}.example.org A 192.0.2.2 60`).sort(),
      );
      expect(world.provider.refused).toBe(0);
      expect(await tokens(world)).toEqual(before);
    });
  });

  it("have a delayed write refused whose slot another replica has taken", async () => {
    const world = new OperatorWorld();
    const stopFirst = world.start("one", world.api.transport, SLOTS);
    await world.run(async () => {
      await world.zone();
      for (const name of NAMES) await world.record(name);
      await world.clock.sleep(10_000);
      const [name = ""] = NAMES;
      const late = world.holdNextWrite();
      await world.api.client.patch(DnsRecord, `default/${name}`, { spec: { value: "192.0.2.2" } });
      const token = await late.token();
      await stopFirst();
      world.start("two", world.api.transport, SLOTS);
      await world.clock.sleep(60_000);
      expect((await tokens(world))[slotOf(`default/${name}`, SLOTS)]).toBeGreaterThan(token);
      await world.api.client.patch(DnsRecord, `default/${name}`, { spec: { value: "192.0.2.3" } });
      await world.clock.sleep(1_000);
      late.arrive();
      await world.clock.sleep(1_000);
      expect(world.remote).toContain(`${name}.example.org A 192.0.2.3 60`);
      expect(world.provider.refused).toBe(1);
    });
  });
});
