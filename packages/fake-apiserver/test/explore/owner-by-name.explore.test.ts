import { type OperatorSetup, ownerOf } from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import {
  ann,
  ConfigMap,
  childOf,
  expectNoProblem,
  problemOf,
  type Scenario,
  Thing,
} from "./kit.ts";

const making =
  (comparesUid: boolean): OperatorSetup =>
  ({ cluster, client, controller }) => {
    const things = cluster.watch(Thing);
    const maps = cluster.watch(ConfigMap);
    return () => [
      controller({
        name: "things",
        sources: [things.source(), ...(comparesUid ? [maps.source({ to: ownerOf(Thing) })] : [])],
        async reconcile({ key }) {
          const thing = things.get(key);
          if (thing === undefined) return;
          const found = maps.get(key);
          const [owner] = found?.metadata.ownerReferences ?? [];
          const isOurs = comparesUid ? owner?.uid === thing.metadata.uid : owner !== undefined;
          if (isOurs) return;
          if (found !== undefined) throw new Error("the child of an earlier object is still there");
          await client.create(ConfigMap, { metadata: childOf(thing) });
        },
      }),
    ];
  };

const scenario: Scenario = async ({ client, clock }) => {
  await client.create(Thing, { metadata: ann, spec: { name: "Ann" } });
  await clock.sleep(5_000);
  await client.delete(Thing, ann);
  await clock.sleep(1_000);
  // As the garbage collector of a cluster.
  await client.delete(ConfigMap, ann);
  await clock.sleep(1_000);
  await client.create(Thing, { metadata: ann, spec: { name: "Ann" } });
};

test("finds a child that counts as that of a new object of the same name", async () => {
  const problem = await problemOf({ setup: making(false), scenario });
  expect(problem).toMatch(/^event-late at step 5, EVENT ADDED things default\/ann\n/);
  expect(problem).toContain("configmaps default/ann: missing");
});

test("passes if it compares the uid", () => expectNoProblem({ setup: making(true), scenario }));
