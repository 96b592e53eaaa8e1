import { expect, test } from "vitest";
import { ConfigMap, childOf, expectNoProblem, problemOf, reconciling, report } from "./kit.ts";

// The name of the child is known only to the status, which a crash after the creation never gets.
const buggy = reconciling(async (thing, context) => {
  if (thing.status?.child !== undefined) return;
  const { name: _, ...metadata } = childOf(thing);
  const child = await context.client.create(ConfigMap, {
    metadata: { ...metadata, generateName: "ann-" },
  });
  await report(context, thing, { child: child.metadata.name });
});

const mended = reconciling(async (thing, context) => {
  const child = `${thing.metadata.name}-child`;
  await context.client.apply(ConfigMap, { metadata: childOf(thing, child) });
  await report(context, thing, { child });
});

test("finds the orphan of a crash between a creation and the status that remembers it", async () => {
  const problem = await problemOf({ setup: buggy });
  expect(problem).toMatch(/^response lost of step 4, POST configmaps default\/ann-\*\n/);
  expect(problem).toContain("configmaps default/ann-* (2): left over");
});

test("passes with a name that is always the same", () => expectNoProblem({ setup: mended }));
