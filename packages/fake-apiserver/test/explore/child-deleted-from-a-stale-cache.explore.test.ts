import type { OperatorSetup } from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import { ann, bob, ConfigMap, expectNoProblem, problemOf, type Scenario, Thing } from "./kit.ts";

/** Deletes ConfigMaps whose Thing does not exist. `isGone` asks the cache, or the server too. */
const cleaner =
  (isLive: boolean): OperatorSetup =>
  ({ cluster, client, controller }) => {
    const things = cluster.watch(Thing);
    const maps = cluster.watch(ConfigMap);
    return () => [
      controller({
        name: "cleaner",
        sources: [maps.source()],
        async reconcile({ key }) {
          if (maps.get(key) === undefined || things.get(key) !== undefined) return;
          if (isLive && (await client.find(Thing, key)) !== undefined) return;
          await client.delete(ConfigMap, key);
        },
      }),
    ];
  };

const scenario: Scenario = async ({ client, clock }) => {
  await client.create(ConfigMap, { metadata: bob, data: { of: "nobody" } });
  await clock.sleep(5_000);
  await client.create(Thing, { metadata: ann, spec: { name: "Ann" } });
  await clock.sleep(1_000);
  await client.create(ConfigMap, { metadata: ann, data: { precious: "yes" } });
};

test("finds a child that is deleted because the watch of its owner is late", async () => {
  const problem = await problemOf({ setup: cleaner(false), scenario });
  expect(problem).toMatch(/^event-late at step \d+, EVENT ADDED things default\/ann\n/);
  expect(problem).toContain("configmaps default/ann: missing");
});

test("passes if it asks the server before it deletes", () =>
  expectNoProblem({ setup: cleaner(true), scenario }));
