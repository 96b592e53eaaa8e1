import { isApiError } from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import { ConfigMap, childOf, expectNoProblem, problemOf, reconciling } from "./kit.ts";

const applying = (forgets: boolean) =>
  reconciling(async (thing, { client }) => {
    try {
      await client.apply(ConfigMap, { metadata: childOf(thing) });
    } catch (error) {
      // "Somebody else has written, so there will be an event."
      if (forgets && isApiError(error, "Conflict")) return;
      throw error;
    }
  });

test("finds a conflict after which nothing is tried again", async () => {
  const problem = await problemOf({ setup: applying(true) });
  expect(problem).toMatch(/^conflict at step 4, PATCH configmaps default\/ann\n/);
  expect(problem).toContain("configmaps default/ann: missing");
});

test("passes if the conflict is an error of the reconcile", () =>
  expectNoProblem({ setup: applying(false) }));
