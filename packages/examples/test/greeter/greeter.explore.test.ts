import { explore } from "@holdfast/fake-apiserver";
import { expect, inject, test } from "vitest";
import { ConfigMap, Greeting, greeter } from "../../src/greeter/greeter.ts";
import { expectExactly, rolesIn } from "../rights.ts";

const roles = rolesIn(new URL("../../src/greeter/deploy/greeter.yaml", import.meta.url));
const ann = { namespace: "default", name: "ann" };

// Three seeds, and up to 1,000 worlds of two faults at a time, in `npm run sim`.
const isThorough: boolean = inject("isThorough");
const pairs = isThorough ? 950 : 20;

test.each([inject("simSeed")])(
  "the greeter survives every fault, and pairs of them, seed %i",
  async (seed) => {
    const report = await explore({
      seed,
      pairs,
      setup: greeter,
      resources: [Greeting, ConfigMap],
      async scenario({ client, clock }) {
        await client.create(Greeting, { metadata: ann, spec: { name: "Ann" } });
        await clock.sleep(1_000);
        await client.patch(Greeting, ann, { spec: { name: "Anna" } });
      },
    });
    expect(report.worlds).toBe(report.planned + pairs);
    expect(report.worlds).toBeGreaterThan(40);
    expectExactly(roles, report.rules);
  },
);

test("a late event does not hold up a stop", async () => {
  const report = await explore({
    setup: greeter,
    resources: [Greeting, ConfigMap],
    only: "event-late:10+hand-over:2",
    async scenario({ client, clock }) {
      await client.create(Greeting, { metadata: ann, spec: { name: "Ann" } });
      await clock.sleep(1_000);
      await client.patch(Greeting, ann, { spec: { name: "Anna" } });
    },
  });
  expect(report.worlds).toBe(1);
});

test("the greeter on three replicas survives every move of a slot", async () => {
  const worlds = isThorough ? 150 : 14; // some seconds for each
  const report = await explore({
    seed: inject("simSeed"),
    worlds,
    replicas: 3,
    // A world takes as long as its replicas look at slots: few slots, and few looks.
    shards: { count: 3, leaseDuration: 20_000, renewDeadline: 12_000, retryPeriod: 5_000 },
    quiet: 65_000,
    setup: greeter,
    resources: [Greeting, ConfigMap],
    async scenario({ client, clock }) {
      for (const name of ["Ann", "Bob"])
        await client.create(Greeting, { metadata: nameOf(name), spec: { name } });
      await clock.sleep(20_000);
      await client.patch(Greeting, nameOf("Ann"), { spec: { name: "Anna" } });
      await client.patch(Greeting, nameOf("Bob"), { spec: { name: "Bobby" } });
    },
  });
  expect(report.worlds).toBe(worlds);
  const places = ["slot", "wish"].map(
    (kind) => `leases holdfast-explored-operator/explored-${kind}-`,
  );
  for (const place of places) expect(report.steps.join("\n")).toContain(place);
  for (const fault of ["crash-before", "crash-after", "response-lost", "lost-lease", "hand-over"])
    expect([fault, report.faults[fault]]).toEqual([fault, expect.any(Number)]);
  // Slots are listed at once; without that right, each is read.
  const needed = report.rules.map((rule) =>
    rule.resources?.includes("leases")
      ? { ...rule, verbs: rule.verbs.filter((verb) => verb !== "list") }
      : rule,
  );
  expect(needed).not.toEqual(report.rules);
  expectExactly(roles, needed);
});

function nameOf(name: string) {
  return { namespace: "default", name: name.toLowerCase() };
}
