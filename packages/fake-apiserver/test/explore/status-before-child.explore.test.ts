import { expect, test } from "vitest";
import { ConfigMap, childOf, expectNoProblem, problemOf, reconciling, report } from "./kit.ts";

const buggy = reconciling(async (thing, context) => {
  if (thing.status?.isReady) return;
  await report(context, thing, { isReady: true });
  await context.client.apply(ConfigMap, { metadata: childOf(thing) });
});

const mended = reconciling(async (thing, context) => {
  if (thing.status?.isReady) return;
  await context.client.apply(ConfigMap, { metadata: childOf(thing) });
  await report(context, thing, { isReady: true });
});

test("finds a status that is true only if nothing goes wrong after it", async () => {
  const problem = await problemOf({ setup: buggy });
  expect(problem).toMatch(/^response lost of step 4, PATCH things\/status default\/ann\n/);
  expect(problem).toContain("configmaps default/ann: missing");
});

test("passes with the status last", () => expectNoProblem({ setup: mended }));
