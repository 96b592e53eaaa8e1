import { fromCrd } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";
import { customResourceDefinitions } from "../../src/dns-sync/manifests.ts";
import { DnsRecord } from "../../src/dns-sync/operator/resources.ts";
import { OperatorWorld } from "./operator-world.ts";

/** Runs the operator for ten minutes with a good record and the objects of `arrange`. */
async function tenMinutes(world: OperatorWorld, arrange: () => Promise<unknown>): Promise<void> {
  world.start();
  await world.zone();
  await arrange();
  await world.record("good");
  await world.clock.sleep(600_000);
  expect(await world.stateOf("good")).toMatchObject([
    "Synced",
    "good.example.org is at the provider",
  ]);
}

/** Requests received by the provider. */
const asked = (world: OperatorWorld): number => world.provider.requests;

describe("a record that the provider refuses", () => {
  it.each([
    {
      field: "host",
      spec: { host: "bad host!" },
      says: 'name must be a DNS name, got "bad host!.example.org"',
    },
    {
      field: "empty host",
      spec: { host: "" },
      says: 'name must be a DNS name, got ".example.org"',
    },
    {
      field: "value",
      spec: { value: "999.0.2.1" },
      says: 'value must be an IPv4 address, got "999.0.2.1"',
    },
    {
      field: "type",
      spec: { type: "LOC" },
      says: 'type must be one of A, AAAA, CNAME, TXT, got "LOC"',
    },
  ])(
    "gets the reason in its status and in one Event, and no retries: $field",
    async ({ spec, says }) => {
      const world = new OperatorWorld();
      await world.run(async () => {
        await tenMinutes(world, () => world.record("bad", spec));
        expect(await world.stateOf("bad")).toMatchObject([
          "Rejected",
          expect.stringContaining(says),
        ]);
        expect(await world.events()).toEqual(["bad Rejected"]);
        // Two for the bad record; one for each drift check of the good one.
        expect(asked(world)).toBeLessThan(2 + 2 + 600 / 30);
        await world.api.client.patch(DnsRecord, "default/bad", {
          spec: { host: "bad", type: "A", value: "192.0.2.7" },
        });
        await world.clock.sleep(1_000);
        expect(await world.stateOf("bad")).toMatchObject([
          "Synced",
          "bad.example.org is at the provider",
        ]);
      });
    },
  );
});

describe("a record whose zone does not exist", () => {
  it("gets a status and one Event, sends no request, and syncs when the zone is created", async () => {
    const world = new OperatorWorld();
    await world.run(async () => {
      await tenMinutes(world, () => world.record("lost", { zone: "nowhere" }));
      expect(await world.stateOf("lost")).toEqual(["ZoneNotFound", "no DnsZone nowhere"]);
      expect(await world.events()).toEqual(["lost ZoneNotFound"]);
      await world.zone("nowhere", "example.net");
      await world.clock.sleep(1_000);
      expect(world.remote).toContain("lost.example.net A 192.0.2.1 60");
      expect((await world.stateOf("lost"))[0]).toBe("Synced");
    });
  });
});

describe("two records for one name", () => {
  it("keep the first; the second gets a status and one Event, and syncs after the first is deleted", async () => {
    const world = new OperatorWorld();
    await world.run(async () => {
      await tenMinutes(world, async () => {
        await world.record("first", { host: "www" });
        await world.clock.sleep(20_000);
        await world.record("second", { host: "www", value: "192.0.2.2" });
      });
      expect(world.remote).toContain("www.example.org A 192.0.2.1 60");
      const says = "www.example.org A belongs to another record";
      expect(await world.stateOf("second")).toEqual(["Retrying", says]);
      expect(await world.events()).toEqual(["second Retrying"]);
      // Retries of the second every 15 s, drift checks of the others.
      expect(asked(world)).toBeLessThan(2 * 50 + 2 * 30);
      await world.api.client.delete(DnsRecord, "default/first");
      await world.clock.sleep(20_000);
      expect(world.remote).toContain("www.example.org A 192.0.2.2 60");
      expect((await world.stateOf("second"))[0]).toBe("Synced");
    });
  });
});

describe("a provider that answers HTML", () => {
  it("causes one status and one Event, is retried with backoff, and is synced after its recovery", async () => {
    const world = new OperatorWorld();
    world.start();
    await world.run(async () => {
      await world.zone();
      world.provider.fault = "html";
      await world.record("www");
      await world.clock.sleep(600_000);
      expect(await world.stateOf("www")).toEqual([
        "Retrying",
        "the provider sent text/html, not JSON",
      ]);
      const statuses = world.api.requests.filter(({ subresource }) => subresource === "status");
      expect(statuses).toHaveLength(1);
      expect(await world.events()).toEqual(["www Retrying"]);
      expect(asked(world)).toBeLessThan(60);
      world.provider.fault = undefined;
      await world.clock.sleep(20_000);
      expect(world.remote).toEqual(["www.example.org A 192.0.2.1 60"]);
    });
  });
});

describe("a CRD of another version", () => {
  it("makes lists back off; the sync starts when the version is served", async () => {
    const world = new OperatorWorld();
    const away = world.api.intercept({
      resource: DnsRecord,
      verbs: ["list", "watch"],
      fault: { type: "status", status: 404, reason: "NotFound" },
    });
    world.start();
    await world.run(async () => {
      await world.zone();
      await world.record("www");
      await world.clock.sleep(600_000);
      const lists = world.api.requests.filter(({ status }) => status === 404);
      expect(lists.length).toBeLessThan(60);
      expect(asked(world)).toBe(0);
      away[Symbol.dispose]();
      await world.clock.sleep(60_000);
      expect(world.remote).toEqual(["www.example.org A 192.0.2.1 60"]);
    });
  });

  it("without a field: the status of the record names the field", async () => {
    // Served as v1, with a field `addresses` instead of `value`.
    const other = customResourceDefinitions().map((crd) => {
      const text = JSON.stringify(crd).replace('"value":{', '"addresses":{');
      return fromCrd(JSON.parse(text.replace('"type","value"', '"type"')));
    });
    const world = new OperatorWorld(other);
    await world.run(async () => {
      world.start();
      await world.zone();
      await world.record("www");
      await world.clock.sleep(600_000);
      expect(await world.stateOf("www")).toMatchObject([
        "Rejected",
        expect.stringContaining('value must be an IPv4 address, got ""'),
      ]);
      expect(await world.events()).toEqual(["www Rejected"]);
      expect(asked(world)).toBe(2);
    });
  });
});

describe("an answer with 429", () => {
  it("is retried after its Retry-After", async () => {
    const world = new OperatorWorld();
    world.start();
    await world.run(async () => {
      await world.zone();
      await world.clock.sleep(10_000);
      world.provider.fault = "throttle";
      await world.record("www");
      await world.clock.sleep(10_500);
      world.provider.fault = undefined;
      // One immediate request, then one per second, the value of Retry-After, until the backoff is longer.
      expect(asked(world)).toBe(6);
      await world.clock.sleep(15_000);
      expect((await world.stateOf("www"))[0]).toBe("Synced");
    });
  });
});
