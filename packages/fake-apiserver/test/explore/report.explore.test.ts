// The same on every machine and every version of Node: npm run test:runtimes and the matrix run these, too.
import { explore } from "@holdfast/fake-apiserver";
import { expect, test } from "vitest";
import {
  ann,
  ConfigMap,
  childOf,
  type Exploration,
  problemOf,
  reconciling,
  report,
  Thing,
} from "./kit.ts";

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
    "response lost of step 4, POST configmaps default/ann-*
      configmaps default/ann-* (2): left over, {"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"ann-","name":"ann-*","namespace":"default","ownerRefer…

    Steps:
         1  0.000 s  replica 1  LIST things → 200
         2  0.000 s  replica 1  WATCH things → 200
         3  0.000 s  replica 1  EVENT ADDED things default/ann
    >    4  0.000 s  replica 1  POST configmaps default/ann-* → response lost
            0.000 s  replica 1  warn: reconcile failed; key retried after delay (default/ann: POST /api/v1/namespaces/default/configmaps: no response from FakeApi (ECONNRESET): the connection broke; it may be restarting)
         5  0.005 s  replica 1  POST configmaps default/ann-* → 201 ann-lpmnk
         6  0.005 s  replica 1  PATCH things/status default/ann → 200
         7  0.005 s  replica 1  EVENT MODIFIED things default/ann
         8  586.000 s  replica 1  WATCH things → 200
            601.000 s  replica 1  stopped

    Run this world alone: only: "response-lost:4""
  `);
});

test("a report of another write at a second start shows a long value around its difference", async () => {
  const setup: Exploration["setup"] = (context) =>
    reconciling(async (thing, { client }) => {
      const data = { text: `${"a".repeat(200)}${context.uid()}` };
      await client.create(ConfigMap, { metadata: ann }).catch(() => {});
      await client.apply(ConfigMap, { metadata: childOf(thing), data });
    })(context);
  const problem = await problemOf({ setup, scenario });
  expect(problem).toMatch(
    /changes it: PATCH configmaps default\/ann\n {2}configmaps default\/ann\.data\.text: expected …a{30}[-0-9a-f]{36}", got …a{30}[-0-9a-f]{36}"\n/,
  );
  expect(problem).toContain("replica 1  stopped\n");
  expect(problem).toContain("replica 2  POST configmaps default/ann → 409 AlreadyExists\n");
});

test("a report without a problem is the same in every run", async () => {
  const setup = reconciling(async (thing, { client }) => {
    await client.apply(ConfigMap, { metadata: childOf(thing) });
  });
  const resources = [Thing, ConfigMap];
  expect(
    await explore({
      setup,
      resources,
      scenario,
      seed: 3,
      pairs: 10,
    }),
  ).toMatchInlineSnapshot(`
    {
      "faults": {
        "conflict": 4,
        "crash-after": 7,
        "crash-after-down": 6,
        "crash-before": 3,
        "crash-before-down": 1,
        "event-late": 1,
        "events-lost": 2,
        "hand-over": 1,
        "response-lost": 4,
        "scenario-first": 1,
        "server-error": 7,
        "too-many-requests": 1,
      },
      "left": [],
      "masked": [],
      "notRun": {},
      "planned": 18,
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
            "coordination.k8s.io",
          ],
          "resources": [
            "leases",
          ],
          "verbs": [
            "create",
            "get",
            "update",
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
      "simulated": 18493117,
      "steps": [
        "LIST things",
        "WATCH things",
        "EVENT ADDED things default/ann",
        "PATCH configmaps default/ann",
      ],
      "worlds": 28,
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
    /^the test is wrong without any fault\n {2}the scenario failed: no scenario today\n/,
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
