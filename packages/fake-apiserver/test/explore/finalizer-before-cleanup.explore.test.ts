import type { CachedObject, OperatorSetup } from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import {
  ann,
  ConfigMap,
  expectNoProblem,
  problemOf,
  type Scenario,
  Thing,
  type ThingObject,
} from "./kit.ts";

const finalizer = "example.org/outside";
/** Stands for a system outside: in another namespace, nothing collects it. */
const outside = { namespace: "outside", name: "ann" };

type Steps = readonly ((thing: CachedObject<ThingObject>) => Promise<unknown>)[];

const finalizing =
  (isCleanFirst: boolean): OperatorSetup =>
  ({ cluster, client, controller }) => {
    const things = cluster.watch(Thing);
    const release = ({ metadata }: CachedObject<ThingObject>) =>
      client.patch(Thing, `${metadata.namespace}/${metadata.name}`, {
        metadata: { finalizers: [] },
      });
    const clean = () => client.delete(ConfigMap, outside);
    const steps: Steps = isCleanFirst ? [clean, release] : [release, clean];
    return () => [
      controller({
        name: "things",
        sources: [things.source()],
        async reconcile({ key }) {
          const thing = things.get(key);
          if (thing === undefined) return;
          if (thing.metadata.deletionTimestamp !== undefined) {
            for (const step of steps) await step(thing);
            return;
          }
          if (!thing.metadata.finalizers?.includes(finalizer))
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

test("finds a finalizer that is removed before the outside is clean", async () => {
  const problem = await problemOf({ setup: finalizing(false), scenario });
  expect(problem).toMatch(/^response lost of step 9, PATCH things default\/ann\n/);
  expect(problem).toContain("configmaps outside/ann: left over");
});

test("passes with the finalizer removed last", () =>
  expectNoProblem({ setup: finalizing(true), scenario }));
