import type { OperatorSetup } from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import { ann, bob, ConfigMap, expectNoProblem, problemOf, type Scenario, Thing } from "./kit.ts";

/** Lists the names of all Things in one ConfigMap, which it looks at too. */
const listing =
  (isSorted: boolean): OperatorSetup =>
  ({ cluster, client, controller }) => {
    const things = cluster.watch(Thing);
    const maps = cluster.watch(ConfigMap);
    let isReversed = false;
    // As the iteration over a map of Go: in another order each time.
    const names = (): string[] => {
      const found = things.list().map(({ metadata }) => metadata.name);
      isReversed = !isReversed;
      return isReversed ? found.reverse() : found;
    };
    return () => [
      controller({
        name: "lists",
        sources: [things.source({ to: () => ["default/list"] }), maps.source()],
        async reconcile() {
          const found = isSorted ? names().sort() : names();
          const data = { names: found.join(",") };
          const metadata = { namespace: "default", name: "list" };
          await client.apply(ConfigMap, { metadata, data });
        },
      }),
    ];
  };

const scenario: Scenario = async ({ client }) => {
  await client.create(Thing, { metadata: ann, spec: { name: "Ann" } });
  await client.create(Thing, { metadata: bob, spec: { name: "Bob" } });
};

test("finds an operator that writes a list in another order each time", async () => {
  const problem = await problemOf({ setup: listing(false), scenario });
  expect(problem).toMatch(/^the program is wrong without any fault\n/);
  expect(problem).toContain("PATCH configmaps default/list");
});

test("passes if the list is sorted", () => expectNoProblem({ setup: listing(true), scenario }));
