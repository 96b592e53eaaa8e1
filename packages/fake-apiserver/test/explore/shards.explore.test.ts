import { expect, test } from "vitest";
import { ann, ConfigMap, childOf, problemOf, reconciling, Thing } from "./kit.ts";

/** Makes a ConfigMap of each Thing. */
const naming = reconciling(async (thing, { client }) => {
  const child = { metadata: childOf(thing), data: { name: thing.spec.name } };
  await client.apply(ConfigMap, child, { owned: true });
});

test("finds an operator on three replicas that ignores its shards", async () => {
  const problem = await problemOf({
    replicas: 3,
    shards: { count: 3 },
    quiet: 10_000,
    scenario: async ({ client, clock }) => {
      await client.create(Thing, { metadata: ann, spec: { name: "Ann" } });
      await clock.sleep(5_000);
      await client.patch(Thing, ann, { spec: { name: "Anna" } });
    },
    setup: async (context) => {
      const start = await naming(context);
      return (leadership) =>
        start(leadership).map(({ name, run }, index, parts) => ({
          name,
          // The options have the shards.
          run: (signal) => run.call(parts[index], signal),
        }));
    },
  });
  expect(problem).toMatch(
    new RegExp(
      "^the program is wrong without any fault\n {2}replicas \\d and \\d are in the reconcile of " +
        `things ${ann.namespace}/${ann.name} at one instant`,
    ),
  );
});
