import type { OperatorSetup } from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import {
  ann,
  bob,
  ConfigMap,
  childOf,
  expectNoProblem,
  problemOf,
  reconciling,
  type Scenario,
  Thing,
} from "./kit.ts";

/** Gives each Thing a port of its own. */
const numbering =
  (remembers: boolean): OperatorSetup =>
  (context) => {
    const maps = context.cluster.watch(ConfigMap);
    let next = 8_000;
    return reconciling(async (thing, { client }) => {
      if (maps.get(`default/${thing.metadata.name}`) !== undefined) return;
      const used = maps.list().map(({ data }) => Number(data?.["port"]) + 1);
      const port = remembers ? Math.max(8_000, ...used) : next++;
      await client.create(ConfigMap, { metadata: childOf(thing), data: { port: `${port}` } });
    })(context);
  };

const scenario: Scenario = async ({ client, clock }) => {
  await client.create(Thing, { metadata: ann, spec: { name: "Ann" } });
  await clock.sleep(300_000);
  await client.create(Thing, { metadata: bob, spec: { name: "Bob" } });
};

test("finds a counter in memory that a crash sets back", async () => {
  const problem = await problemOf({ setup: numbering(false), scenario });
  expect(problem).toMatch(/^conflict at step 6, POST configmaps default\/ann\n/);
  expect(problem).toContain('configmaps default/bob.data.port: expected "8001", got "8002"');
});

test("passes if it looks at the ports in use", () =>
  expectNoProblem({ setup: numbering(true), scenario }));
