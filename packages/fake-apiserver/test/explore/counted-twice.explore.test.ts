import type { OperatorSetup } from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import {
  ann,
  ConfigMap,
  expectNoProblem,
  problemOf,
  reconciling,
  report,
  type Scenario,
  Thing,
} from "./kit.ts";

/** Counts the sizes that a Thing has had. */
const counting = (isIdempotent: boolean): OperatorSetup =>
  reconciling(async (thing, context) => {
    const { client } = context;
    const { size } = thing.spec;
    if (size === thing.status?.size) return;
    const found = await client.find(ConfigMap, "default/count");
    const { count = "0", [`size-${size}`]: known } = found?.data ?? {};
    const data = { count: `${Number(count) + 1}`, [`size-${size}`]: "counted" };
    const metadata = { namespace: "default", name: "count" };
    if (found === undefined) await client.create(ConfigMap, { metadata, data });
    else if (!isIdempotent || known === undefined)
      await client.patch(ConfigMap, metadata, { data });
    await report(context, thing, { size: size ?? 0 });
  });

const scenario: Scenario = async ({ client, clock }) => {
  for (const size of [1, 2]) {
    if (size === 1) await client.create(Thing, { metadata: ann, spec: { name: "Ann", size } });
    else await client.patch(Thing, ann, { spec: { size } });
    await clock.sleep(300_000);
  }
};

test("finds a counter that counts twice if its write is repeated", async () => {
  const problem = await problemOf({ setup: counting(false), scenario });
  expect(problem).toMatch(/^crash before step 6, PATCH things\/status default\/ann\n/);
  expect(problem).toContain('configmaps default/count.data.count: expected "2", got "3"');
});

test("passes if the object of the count tells what has been counted", () =>
  expectNoProblem({ setup: counting(true), scenario }));
