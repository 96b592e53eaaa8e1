import type { FakeApi, RoleManifest } from "@holdfast/fake-apiserver";
import { describe, expect, it } from "vitest";
import { drawn } from "../../../../test/drawn.ts";
import { rightsOf, rolesIn, withoutEach } from "../rights.ts";
import { CronWorld, endJobs, MINUTE } from "./cron-world.ts";

const roles = rolesIn(new URL("../../src/cron-task/deploy/cron-task.yaml", import.meta.url));

/** Runs the operator with the rights of roles, until it has created Jobs and deleted one. */
async function schedule(rules: readonly RoleManifest[]): Promise<FakeApi> {
  const world = new CronWorld(rules);
  await world.run(async () => {
    await world.create({ successfulJobsHistoryLimit: 0 });
    await world.clock.sleep(7 * MINUTE);
    await endJobs(world.api.client, world.clock);
    await world.clock.sleep(5 * MINUTE);
  });
  return world.api;
}

describe("the roles of cron-task", () => {
  it("suffice", async () => {
    const api = await schedule(roles);
    expect(api.rulesMissing()).toEqual([]);
  });

  it.each(drawn(withoutEach(roles), 5))(
    "are not enough without the right to %s",
    async (right, rules) => {
      const api = await schedule(rules);
      expect(rightsOf(api.rulesMissing())).toEqual([right]);
    },
  );
});
