import type { KubeClient, OperatorSetup } from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import {
  ann,
  ConfigMap,
  expectNoProblem,
  problemOf,
  reconciling,
  type Scenario,
  Thing,
} from "./kit.ts";

const finalizer = "example.org/outside";
/** Stands for a system outside: in another namespace, nothing collects it. */
const outside = { namespace: "outside", name: "ann" };

/** What an operator does for an object that is being deleted. */
type Finalize = (client: KubeClient, thing: Thing) => Promise<void>;

const finalizing = (finalize: Finalize): OperatorSetup =>
  reconciling(async (thing, { client }) => {
    const { namespace, name, deletionTimestamp, finalizers } = thing.metadata;
    if (deletionTimestamp !== undefined) return await finalize(client, thing);
    if (!finalizers?.includes(finalizer))
      await client.patch(Thing, `${namespace}/${name}`, { metadata: { finalizers: [finalizer] } });
    await client.apply(ConfigMap, { metadata: outside });
  });

const release: Finalize = async (client, { metadata }) => {
  const key = `${metadata.namespace}/${metadata.name}`;
  await client.patch(Thing, key, { metadata: { finalizers: [] } });
};

const scenario: Scenario = async ({ client, clock }) => {
  await client.create(Thing, { metadata: ann, spec: { name: "Ann" } });
  await clock.sleep(5_000);
  await client.delete(Thing, ann);
};

test("finds a finalizer that is removed before the outside is clean", async () => {
  const setup = finalizing(async (client, thing) => {
    await release(client, thing);
    await client.delete(ConfigMap, outside);
  });
  const problem = await problemOf({ setup, scenario });
  expect(problem).toMatch(/^response lost of step 9, PATCH things default\/ann\n/);
  expect(problem).toContain("configmaps outside/ann: left over");
});

test("finds a finalizer that stays forever because the outside is clean already", async () => {
  const setup = finalizing(async (client, thing) => {
    if (!(await client.delete(ConfigMap, outside))) throw new Error("there is nothing to clean");
    await release(client, thing);
  });
  const problem = await problemOf({ setup, scenario });
  expect(problem).toMatch(
    /^crash, and no replica for a minute, before step 6, PATCH configmaps outside\/ann\n/,
  );
  expect(problem).toContain(
    "the reconcile of things default/ann still fails: there is nothing to clean",
  );
});

test("passes with the finalizer removed last, also if nothing is there to clean", async () => {
  const setup = finalizing(async (client, thing) => {
    await client.delete(ConfigMap, outside);
    await release(client, thing);
  });
  await expectNoProblem({ setup, scenario });
});
