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
  expect(problem).toMatch(/^crash after step 8, DELETE configmaps outside\/ann\n/);
  expect(problem).toContain("things.example.org default/ann: left over");
});

test("passes if nothing to clean is no error", () =>
  expectNoProblem({ setup: finalizing(true), scenario }));
