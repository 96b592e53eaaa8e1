import type { OperatorSetup } from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import { ann, ConfigMap, expectNoProblem, problemOf, type Scenario, Thing } from "./kit.ts";

/** Keeps one ConfigMap per Thing in another namespace, where nothing collects it. */
const copying =
  (looksAtCopies: boolean): OperatorSetup =>
  ({ cluster, client, controller }) => {
    const things = cluster.watch(Thing);
    const copies = cluster.watch(ConfigMap, { namespaces: ["copies"] });
    const toThing = copies.source({ to: ({ object }) => [`default/${object.metadata.name}`] });
    return () => [
      controller({
        name: "things",
        sources: [things.source(), ...(looksAtCopies ? [toThing] : [])],
        async reconcile({ key }) {
          const [, name = ""] = key.split("/");
          const metadata = { namespace: "copies", name };
          if (things.get(key) !== undefined) await client.apply(ConfigMap, { metadata });
          else await client.delete(ConfigMap, metadata);
        },
      }),
    ];
  };

const scenario: Scenario = async ({ client, clock }) => {
  await client.create(Thing, { metadata: ann, spec: { name: "Ann" } });
  await clock.sleep(5_000);
  await client.delete(Thing, ann);
};

test("finds a deletion of which only a replica that has crashed was told", async () => {
  const problem = await problemOf({ setup: copying(false), scenario });
  expect(problem).toMatch(/^crash before step \d+, DELETE configmaps copies\/ann\n/);
  expect(problem).toContain("configmaps copies/ann: left over");
});

test("passes if a copy leads to its Thing", () =>
  expectNoProblem({ setup: copying(true), scenario }));
