import {
  type ExploreOperatorOptions,
  explore,
  type ScenarioContext,
} from "@holdfast/fake-apiserver";
import { expect, inject, test } from "vitest";
import { definedResources } from "../../src/dns-sync/manifests.ts";
import { dnsSync } from "../../src/dns-sync/operator/dns-sync.ts";
import { DnsRecord, DnsZone } from "../../src/dns-sync/operator/resources.ts";
import { DnsProvider } from "../../src/dns-sync/provider/dns-provider.ts";
import { expectExactly, rolesIn } from "../rights.ts";
import { fetchFrom } from "./operator-world.ts";

const roles = rolesIn(new URL("../../src/dns-sync/deploy/rbac.yaml", import.meta.url));
const namespace = "default";
const www = { namespace, name: "www" };

/** Users who make a zone with three records, change two, the wrong one twice, and delete the third. */
async function scenario({ client, clock }: ScenarioContext<DnsProvider>): Promise<void> {
  const metadata = { namespace, name: "web" };
  await client.create(DnsZone, { metadata, spec: { domain: "example.org", ttl: 60 } });
  const spec = { zone: "web", type: "A", value: "192.0.2.1" };
  await client.create(DnsRecord, { metadata: www, spec: { ...spec, host: "www" } });
  const mail = { namespace, name: "mail" };
  await client.create(DnsRecord, { metadata: mail, spec: { ...spec, host: "mail" } });
  // Another controller adds its finalizer while the operator adds its own.
  await client.patch(DnsRecord, mail, { metadata: { finalizers: ["example.org/other"] } });
  const typo = { namespace, name: "typo" };
  await client.create(DnsRecord, { metadata: typo, spec: { ...spec, host: "x", value: "wrong" } });
  await clock.sleep(5_000);
  await client.patch(DnsRecord, www, { spec: { value: "192.0.2.2" } });
  await client.patch(DnsRecord, mail, { metadata: { finalizers: ["dns.example.org/remote"] } });
  await client.delete(DnsRecord, mail);
  await client.patch(DnsRecord, typo, { spec: { value: "still wrong" } });
  await clock.sleep(5_000);
  await client.patch(DnsRecord, typo, { spec: { value: "192.0.2.3" } });
}

type Settings = Pick<
  ExploreOperatorOptions<DnsProvider>,
  "seed" | "pairs" | "replicas" | "worlds" | "shards" | "quiet"
>;

const exploring = (settings: Settings) =>
  explore<DnsProvider>({
    quiet: 120_000,
    ...settings,
    resources: definedResources(),
    world: ({ clock, random }) => new DnsProvider({ clock, random }),
    setup: (context) =>
      dnsSync("http://provider", { fetch: context.link(fetchFrom(context.world), "fetch") })(
        context,
      ),
    scenario,
    stateOf: ({ records }) =>
      records
        .list()
        .map(({ name, type, value, ttl }) => `${name} ${type} ${value} ${ttl}`)
        .sort(),
  });

const isThorough: boolean = inject("isThorough");

test.each([inject("simSeed")])(
  "dns-sync and its provider end alike after every fault, and pairs of them, seed %i",
  async (seed) => {
    const [worlds, pairs] = isThorough ? [1_000, 900] : [40, 5];
    const report = await exploring({ seed, worlds, pairs });
    expect(report.worlds).toBe(Math.min(worlds, report.planned) + pairs);
    expectExactly(roles, report.rules);
  },
);

test("dns-sync with two replicas survives the loss of a lease", async () => {
  const report = await exploring({
    seed: inject("simSeed"),
    pairs: 0,
    replicas: 2,
    worlds: isThorough ? 1_000 : 20,
  });
  expect(report.faults["lost-lease"]).toBeGreaterThan(0);
});

test("dns-sync on three replicas that share the slots ends alike", async () => {
  const leases = { leaseDuration: 20_000, renewDeadline: 12_000, retryPeriod: 5_000 };
  const report = await exploring({
    seed: inject("simSeed"),
    pairs: 0,
    replicas: 3,
    shards: { count: 3, ...leases },
    quiet: 65_000,
    worlds: isThorough ? 200 : 9, // a second and more for each
  });
  expect(report.faults["lost-lease"]).toBeGreaterThan(0);
});
