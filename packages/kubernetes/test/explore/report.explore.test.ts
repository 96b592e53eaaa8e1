// The same on every machine and every version of Node: npm run test:runtimes and the matrix run these, too.
import { explore } from "@holdfast/kubernetes/testing";
import { expect, test } from "vitest";
import { ann, ConfigMap, childOf, problemOf, reconciling, report, Thing } from "./kit.ts";

const generating = reconciling(async (thing, context) => {
  if (thing.status?.child !== undefined) return;
  const { name: _, ...metadata } = childOf(thing);
  const child = await context.client.create(ConfigMap, {
    metadata: { ...metadata, generateName: "ann-" },
  });
  await report(context, thing, { child: child.metadata.name });
});

const scenario = async ({
  client,
}: {
  readonly client: import("@holdfast/kubernetes").KubeClient;
}) => await client.create(Thing, { metadata: ann, spec: { name: "Ann" } });

test("a report of a problem is the same text in every run", async () => {
  expect(await problemOf({ setup: generating, scenario })).toMatchInlineSnapshot(`
    "crash after step 3, POST configmaps default
      configmaps default/ann-* (2): left over, {"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"ann-","name":"ann-*","namespace":"default","ownerRefer…

    Steps:
         1  0.000 s  replica 1  LIST things
         2  0.000 s  replica 1  WATCH things
    >    3  0.000 s  replica 1  POST configmaps default
         4  0.000 s  replica 2  LIST things
         5  0.000 s  replica 2  WATCH things
         6  0.000 s  replica 2  POST configmaps default
         7  0.000 s  replica 2  PATCH things/status default/ann
         8  0.000 s  replica 2  EVENT MODIFIED things default/ann
         9  450.000 s  replica 2  WATCH things

    Run this world alone: only: "crash-after:3""
  `);
});

test("a report without a problem is the same in every run", async () => {
  const setup = reconciling(async (thing, { client }) => {
    await client.apply(ConfigMap, { metadata: childOf(thing) });
  });
  const resources = [Thing, ConfigMap];
  expect(await explore({ setup, resources, scenario, seed: 3, pairs: 10 })).toMatchInlineSnapshot(`
    {
      "faults": {
        "conflict": 4,
        "crash-after": 5,
        "crash-before": 3,
        "hand-over": 7,
        "response-lost": 2,
        "server-error": 4,
        "too-many-requests": 4,
      },
      "planned": 9,
      "rules": [
        {
          "apiGroups": [
            "",
          ],
          "resources": [
            "configmaps",
          ],
          "verbs": [
            "create",
            "patch",
          ],
        },
        {
          "apiGroups": [
            "example.org",
          ],
          "resources": [
            "things",
          ],
          "verbs": [
            "list",
            "watch",
          ],
        },
      ],
      "simulated": 12601035,
      "steps": [
        "LIST things",
        "WATCH things",
        "PATCH configmaps default/ann",
      ],
      "worlds": 19,
    }
  `);
});

test("a setup that throws is the error", async () => {
  const setup = () => {
    throw new Error("no setup today");
  };
  expect(await problemOf({ setup, scenario })).toMatch(
    /^the program is wrong without any fault\n {2}the program failed: no setup today\n/,
  );
});

test("a scenario that throws is the error", async () => {
  const failing = async () => {
    throw new Error("no scenario today");
  };
  expect(await problemOf({ setup: generating, scenario: failing })).toMatch(
    /^the program is wrong without any fault\n {2}no scenario today\n/,
  );
});

test("an operator that never gets quiet is shown with its last steps", async () => {
  const setup = reconciling(async (thing, { client, clock }) => {
    await client.patch(Thing, ann, { spec: { name: `${clock.now()}` } });
    await clock.sleep(60_000);
    void thing;
  });
  expect(await problemOf({ setup, scenario })).toContain(
    "the program never becomes quiet: its last steps are ",
  );
});

test("a resource that the test has forgotten is named", async () => {
  const setup = reconciling(async (thing, { client }) => {
    await client.apply(ConfigMap, { metadata: childOf(thing) });
  });
  await expect(explore({ setup, resources: [Thing], scenario })).rejects.toThrow(
    /options\.resources must have every resource that the operator uses; it asked for \/api\/v1\/namespaces\/default\/configmaps/,
  );
});
