import type { Clock } from "@holdfast/clock";
import {
  type ConditionUpdate,
  customResource,
  type OperatorSetup,
  ownConditions,
  type StatusCondition,
  setCondition,
} from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import { z } from "zod";
import { ann, expectNoProblem, problemOf, type Scenario } from "./kit.ts";

const Site = customResource({
  apiVersion: "example.org/v1",
  kind: "Site",
  plural: "sites",
  spec: z.object({ page: z.string() }),
  conditions: true,
});

type Conditions = readonly StatusCondition[];

const reporting =
  (
    conditionsOf: (
      before: Conditions | undefined,
      own: ConditionUpdate,
      clock: Clock,
    ) => Conditions,
  ): OperatorSetup =>
  ({ cluster, client, clock, controller }) => {
    const sites = cluster.watch(Site);
    return () => [
      controller({
        name: "sites",
        sources: [sites.source()],
        async reconcile({ key }) {
          const site = sites.get(key);
          if (site === undefined) return;
          const { name, namespace, generation: observedGeneration } = site.metadata;
          const ready = { type: "Ready", status: "True", reason: "Served" } as const;
          const conditions = conditionsOf(
            site.status?.conditions,
            { ...ready, observedGeneration },
            clock,
          );
          await client.apply(
            Site,
            { metadata: { name, namespace }, status: { conditions } },
            { subresource: "status", cached: site },
          );
        },
      }),
    ];
  };

const scenario: Scenario = async ({ client, clock }) => {
  await client.create(Site, { metadata: ann, spec: { page: "" } });
  await clock.sleep(5_000);
  await client.patch(Site, ann, { spec: { page: "x" } });
};

test("finds an apply that names the condition of another controller", async () => {
  const setup = reporting(setCondition);
  const problem = await problemOf({ setup, scenario, resources: [Site] });
  expect(problem).toMatch(/^foreign-condition at step \d+, EVENT ADDED sites default\/ann\n/);
  expect(problem).toContain(
    "sites.example.org default/ann has a condition of another controller that the operator has applied too",
  );
});

test("passes if it names its own alone", () =>
  expectNoProblem({
    setup: reporting((before, own, clock) => ownConditions(before, [own], clock)),
    scenario,
    resources: [Site],
  }));
