// The resources of the operators with a bug, and what exploring them says.

import { ExplorationError } from "@holdfast/explore";
import { type ExploreOperatorOptions, explore } from "@holdfast/fake-apiserver";
import {
  builtIn,
  type CachedObject,
  customResource,
  type KubeObject,
  type OperatorContext,
  type OperatorSetup,
  ownerReference,
  type Resource,
} from "@holdfast/kubernetes";
import { expect, inject } from "vitest";

export interface ThingObject extends KubeObject {
  spec: { name: string; size?: number };
  status?: { child?: string; isReady?: boolean; size?: number };
}
export interface MapObject extends KubeObject {
  data?: { [key: string]: string };
}
export type Thing = CachedObject<ThingObject>;

export const Thing: Resource<ThingObject> = customResource<ThingObject>({
  apiVersion: "example.org/v1",
  kind: "Thing",
  plural: "things",
});
export const ConfigMap: Resource<MapObject> = builtIn<MapObject>("v1", "ConfigMap");

export const ann = { namespace: "default", name: "ann" };
export const bob = { namespace: "default", name: "bob" };

/** A setup with a controller that reconciles the Things of the cache. */
export function reconciling(
  reconcile: (thing: Thing, context: OperatorContext) => Promise<unknown>,
): OperatorSetup {
  return (context) => {
    const things = context.cluster.watch(Thing);
    return () => [
      context.controller({
        name: "things",
        sources: [things.source()],
        async reconcile({ key }) {
          const thing = things.get(key);
          if (thing !== undefined) await reconcile(thing, context);
        },
      }),
    ];
  };
}

/** Metadata of a child of a Thing. */
export function childOf(thing: Thing, name: string = thing.metadata.name) {
  const { namespace } = thing.metadata;
  return { name, namespace, ownerReferences: [ownerReference(Thing, thing)] };
}

/** Writes to the status of a Thing. */
export function report(
  { client }: OperatorContext,
  { metadata: { name, namespace } }: Thing,
  status: NonNullable<ThingObject["status"]>,
): Promise<unknown> {
  return client.patch(Thing, { name, namespace }, { status }, { subresource: "status" });
}

export type Scenario = ExploreOperatorOptions["scenario"];

/** A user who creates ann. */
const createsAnn: Scenario = async ({ client, clock }) => {
  await client.create(Thing, { metadata: ann, spec: { name: "Ann" } });
  await clock.sleep(5_000);
};

const resources = [Thing, ConfigMap];

export type Exploration = Partial<ExploreOperatorOptions> & Pick<ExploreOperatorOptions, "setup">;

/** What exploring says about an operator with the default settings. */
export async function problemOf(options: Exploration): Promise<string> {
  const error = await explore({
    resources,
    scenario: createsAnn,
    ...options,
  }).then(
    () => new Error("no problem was found"),
    (reason: unknown) => reason as Error,
  );
  if (!(error instanceof ExplorationError)) throw error;
  return error.message;
}

/** Expects that exploring finds nothing: with the default settings in `npm run sim`, with fewer pairs elsewhere. */
export async function expectNoProblem(options: Exploration): Promise<void> {
  const { worlds, notRun } = await explore({
    resources,
    scenario: createsAnn,
    ...(inject("isThorough") ? {} : { pairs: 10 }),
    ...options,
  });
  expect(worlds).toBeGreaterThan(1);
  expect(notRun).toEqual({});
}
