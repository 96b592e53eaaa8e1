import type { OperatorSetup } from "@holdfast/kubernetes";
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

const updating =
  (skipsKnown: boolean): OperatorSetup =>
  ({ cluster, client, controller }) => {
    const things = cluster.watch(Thing);
    const maps = cluster.watch(ConfigMap);
    const seen = new Set<string>();
    return () => [
      controller({
        name: "things",
        sources: [things.source()],
        async reconcile({ key }) {
          const thing = things.get(key);
          if (thing === undefined) return;
          const isFirst = !seen.has(key);
          seen.add(key);
          // "It is there already: the replica before has made it."
          if (skipsKnown && isFirst && maps.get(key) !== undefined) return;
          const data = { name: thing.spec.name };
          await client.apply(ConfigMap, { metadata: childOf(thing), data });
        },
      }),
    ];
  };

const scenario: Scenario = async ({ client, clock }) => {
  await client.create(Thing, { metadata: ann, spec: { name: "Ann" } });
  await clock.sleep(5_000);
  await client.patch(Thing, ann, { spec: { name: "Anna" } });
};

test("finds an update that a new replica skips", async () => {
  const problem = await problemOf({ setup: updating(true), scenario });
  expect(problem).toMatch(/^crash before step 9, PATCH configmaps default\/ann\n/);
  expect(problem).toContain('configmaps default/ann.data.name: expected "Anna", got "Ann"');
});

test("passes without the early return", () =>
  expectNoProblem({ setup: updating(false), scenario }));
