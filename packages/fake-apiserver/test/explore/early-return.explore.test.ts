import type { OperatorSetup } from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import {
  ann,
  ConfigMap,
  childOf,
  expectNoProblem,
  problemOf,
  reconciling,
  type Scenario,
  Thing,
} from "./kit.ts";

const updating =
  (skipsKnown: boolean): OperatorSetup =>
  (context) => {
    const maps = context.cluster.watch(ConfigMap);
    const seen = new Set<string>();
    return reconciling(async (thing, { client }) => {
      const { name } = thing.metadata;
      const isFirst = !seen.has(name);
      seen.add(name);
      // "It is there already: the replica before has made it."
      if (skipsKnown && isFirst && maps.get(`default/${name}`) !== undefined) return;
      const data = { name: thing.spec.name };
      await client.apply(ConfigMap, { metadata: childOf(thing), data });
    })(context);
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
