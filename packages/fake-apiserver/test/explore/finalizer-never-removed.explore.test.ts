import type { OperatorSetup } from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import { ann, ConfigMap, expectNoProblem, problemOf, type Scenario, Thing } from "./kit.ts";

const finalizer = "example.org/outside";
const outside = { namespace: "outside", name: "ann" };

const finalizing =
  (toleratesGone: boolean): OperatorSetup =>
  ({ cluster, client, controller }) => {
    const things = cluster.watch(Thing);
    return () => [
      controller({
        name: "things",
        sources: [things.source()],
        async reconcile({ key }) {
          const thing = things.get(key);
          if (thing === undefined) return;
          const { deletionTimestamp, finalizers } = thing.metadata;
          if (deletionTimestamp !== undefined) {
            const wasThere = await client.delete(ConfigMap, outside);
            if (!wasThere && !toleratesGone) throw new Error("there is nothing to clean");
            await client.patch(Thing, key, { metadata: { finalizers: [] } });
            return;
          }
          if (!finalizers?.includes(finalizer))
            await client.patch(Thing, key, { metadata: { finalizers: [finalizer] } });
          await client.apply(ConfigMap, { metadata: outside });
        },
      }),
    ];
  };

const scenario: Scenario = async ({ client, clock }) => {
  await client.create(Thing, { metadata: ann, spec: { name: "Ann" } });
  await clock.sleep(5_000);
  await client.delete(Thing, ann);
};

test("finds a finalizer that stays forever because the outside is clean already", async () => {
  const problem = await problemOf({ setup: finalizing(false), scenario });
  expect(problem).toMatch(
    /^crash, and no replica for a minute, before step 6, PATCH configmaps outside\/ann\n/,
  );
  expect(problem).toContain(
    "the reconcile of things default/ann still fails: there is nothing to clean",
  );
});

test("passes if nothing to clean is no error", () =>
  expectNoProblem({ setup: finalizing(true), scenario }));
