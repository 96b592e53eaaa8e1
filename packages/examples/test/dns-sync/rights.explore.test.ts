import type { FakeApi, RoleManifest } from "@holdfast/fake-apiserver";
import { describe, expect, it } from "vitest";
import { DnsRecord } from "../../src/dns-sync/operator/resources.ts";
import { rightsOf, rolesIn, withoutEach } from "../rights.ts";
import { OperatorWorld } from "./operator-world.ts";

const roles = rolesIn(new URL("../../src/dns-sync/deploy/rbac.yaml", import.meta.url));

/** Runs the operator with the rights of roles, while the provider fails for a while and a record goes. */
async function sync(rules: readonly RoleManifest[]): Promise<FakeApi> {
  const world = new OperatorWorld(undefined, rules);
  world.start();
  await world.run(async () => {
    await world.zone();
    await world.record("www");
    await world.clock.sleep(30_000);
    await world.api.client.delete(DnsRecord, "default/www");
    await world.clock.sleep(60_000);
  });
  return world.api;
}

describe("the roles of dns-sync", () => {
  it("suffice", async () => {
    expect((await sync(roles)).rulesMissing()).toEqual([]);
  });

  // Only a record that fails, or whose finalizers another writer moves, needs the others: dns-sync.explore.test.ts has them.
  const common = withoutEach(roles).filter(
    ([right]) => !/^get dnsrecords|events\.events/.test(right),
  );

  it.each(common)("are not enough without the right to %s", async (right, rules) => {
    expect(rightsOf((await sync(rules)).rulesMissing())).toEqual([right]);
  });
});
