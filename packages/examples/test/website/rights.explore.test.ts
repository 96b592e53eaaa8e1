import type { FakeApi, RoleManifest } from "@holdfast/fake-apiserver";
import { describe, expect, it } from "vitest";
import { Website } from "../../src/website/resources.ts";
import { rightsOf, rolesIn, withoutEach } from "../rights.ts";
import { home, spec, WebsiteWorld } from "./website-world.ts";

const roles = rolesIn(new URL("../../src/website/deploy/website.yaml", import.meta.url));

/** Runs the operator with the rights of roles, until a Website was there and is gone. */
async function serve(rules: readonly RoleManifest[]): Promise<FakeApi> {
  const world = new WebsiteWorld(rules);
  await world.run(async () => {
    await world.api.client.create(Website, { metadata: home, spec });
    await world.clock.sleep(30_000);
    await world.api.client.delete(Website, home);
    await world.clock.sleep(30_000);
  });
  return world.api;
}

describe("the roles of the Website operator", () => {
  it("suffice", async () => {
    expect((await serve(roles)).rulesMissing()).toEqual([]);
  });

  // Only finalizers that another writer moves, and repeated Events, need the others: website.explore.test.ts has them.
  const common = withoutEach(roles).filter(([right]) => !/^get websites|^patch events/.test(right));

  it.each(common)("are not enough without the right to %s", async (right, rules) => {
    expect(rightsOf((await serve(rules)).rulesMissing())).toContain(right);
  });
});
