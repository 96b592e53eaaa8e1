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

/** Keeps `size` members. A user marks the one to keep; members without the mark go first. */
const scaling =
  (isSafe: boolean): OperatorSetup =>
  (context) => {
    const members = context.cluster.watch(ConfigMap);
    return reconciling(async (thing, { client }) => {
      const { size = 2 } = thing.spec;
      const names = ["member-0", "member-1"];
      if (size === 2)
        for (const name of names) await client.apply(ConfigMap, { metadata: childOf(thing, name) });
      const left = members.list();
      const victim = left.find(({ metadata }) => metadata.labels?.["keep"] === undefined);
      if (left.length <= size || victim === undefined) return;
      const { resourceVersion } = victim.metadata;
      const ref = { namespace: "default", name: victim.metadata.name };
      await client.delete(ConfigMap, ref, isSafe ? { resourceVersion } : {});
    })(context);
  };

const scenario: Scenario = async ({ client, clock }) => {
  await client.create(Thing, { metadata: ann, spec: { name: "Ann", size: 2 } });
  await clock.sleep(5_000);
  await client.patch(ConfigMap, "default/member-0", { metadata: { labels: { keep: "yes" } } });
  await clock.sleep(1_000);
  await client.patch(Thing, ann, { spec: { size: 1 } });
};

test("finds a member that is deleted because the watch of its mark is late", async () => {
  const problem = await problemOf({ setup: scaling(false), scenario });
  expect(problem).toMatch(/^event-late at step \d+, EVENT ADDED configmaps default\/member-0\n/);
  expect(problem).toContain("configmaps default/member-0: missing");
});

test("passes if the deletion demands the version that it has seen", () =>
  expectNoProblem({ setup: scaling(true), scenario }));
