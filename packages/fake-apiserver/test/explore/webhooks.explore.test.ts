// Webhooks and conversions that fail at each call, and a stored version that changes under an operator.
import { type ExploreOperatorOptions, explore } from "@holdfast/fake-apiserver";
import {
  fromCrd,
  type KubeObject,
  type OperatorContext,
  type Resource,
  validating,
} from "@holdfast/kubernetes";
import { expect, it } from "vitest";
import { convertTask, taskCrd } from "../../conformance/tasks.ts";
import { asWebhook } from "../as-webhook.ts";
import { ann, ConfigMap, childOf, reconciling, Thing } from "./kit.ts";

const allow = ({ uid }: { readonly uid: string }) => ({ uid, allowed: true });
const check = asWebhook({
  configuration: {
    type: "validating",
    name: "check.example.org",
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] }],
  },
  review: allow,
});
const options = { pairs: 0, worlds: 10_000 } as const;

const children = reconciling(async (thing, { client }) => {
  await client.apply(ConfigMap, { metadata: childOf(thing), data: { of: thing.spec.name } });
});

const scenario: ExploreOperatorOptions["scenario"] = async ({ client, clock }) => {
  await client.create(Thing, { metadata: ann, spec: { name: "Ann" } });
  await clock.sleep(5_000);
};

it("a webhook is down, slow and refuses at each write that it is asked about", async () => {
  const resources = [Thing, ConfigMap];
  const { faults } = await explore({
    ...{ setup: children, resources, scenario, webhooks: [check] },
    ...options,
  });
  const { "webhook-down": down, "webhook-slow": slow, "webhook-refuses": refuses } = faults;
  expect({ down, slow, refuses }).toEqual({ down: 1, slow: 1, refuses: 1 });
  const without = await explore({ setup: children, resources, scenario, ...options });
  expect(Object.keys(without.faults).filter((name) => name.startsWith("webhook"))).toEqual([]);
});

it("a webhook may declare informers of the world in which it is asked", async () => {
  const sizes = new Set<number>();
  const counting = validating(ConfigMap, {
    setup({ cluster }) {
      const things = cluster.watch(Thing);
      return () => void sizes.add(things.size);
    },
  });
  const resources = [Thing, ConfigMap];
  const { faults } = await explore({
    ...{ setup: children, resources, scenario, webhooks: [counting] },
    ...options,
  });
  expect(faults["webhook-down"]).toBe(1);
  expect(sizes).toEqual(new Set([1]));
});

it("an operator that gives up when its write is refused is found", async () => {
  let tried = new Set<unknown>();
  const once = (context: OperatorContext) => {
    tried = new Set();
    return reconciling(async (thing, { client }) => {
      if (tried.has(thing.metadata.uid)) return;
      tried.add(thing.metadata.uid);
      await client.apply(ConfigMap, { metadata: childOf(thing), data: {} }).catch(() => undefined);
    })(context);
  };
  const resources = [Thing, ConfigMap];
  const only = ["conflict", "server-error", "too-many-requests", "response-lost"];
  const exploring = explore({
    ...{ setup: once, resources, scenario, webhooks: [check] },
    ...{ ...options, without: only },
  });
  await expect(exploring).rejects.toThrow("webhook-down at step");
});

interface Task extends KubeObject {
  spec: { schedule?: string; at?: { minute?: string; hour?: string }; timeZone?: string };
}

/** The resource, with this version stored. */
function tasks(version: string, stored: string): Resource<Task> {
  const { spec, ...rest } = taskCrd as {
    spec: { versions: { name: string; schema: { openAPIV3Schema: object } }[] };
  };
  const versions = spec.versions.map((one) => ({ ...one, storage: one.name === stored }));
  const crd = { ...rest, spec: { ...spec, versions } };
  return { ...fromCrd<Task>(crd, version), convert: convertTask } as Resource<Task>;
}

/** Gives each task a zone, in a version. */
const zoning =
  (resource: Resource<Task>, zone: object) =>
  ({ cluster, client, controller }: OperatorContext) => {
    const all = cluster.watch(resource);
    return () => [
      controller({
        name: "zones",
        sources: [all.source()],
        async reconcile({ key }) {
          const task = all.get(key);
          if (task === undefined || JSON.stringify(task.spec).includes("CET")) return;
          await client.patch(resource, key, { spec: zone });
        },
      }),
    ];
  };
const inFirst = zoning(tasks("v1", "v1"), { zone: "CET" });
const inSecond = zoning(tasks("v2", "v1"), { timeZone: "CET" });

const makesTask: ExploreOperatorOptions["scenario"] = async ({ client, clock }) => {
  await client.create(tasks("v1", "v1"), { metadata: ann, spec: { schedule: "5 4" } });
  await clock.sleep(5_000);
};

it("a conversion is down at each read and write of a version that is not stored", async () => {
  const { faults } = await explore({
    ...{ setup: inSecond, resources: [tasks("v2", "v1")], scenario: makesTask },
    ...options,
  });
  expect(faults["conversion-down"]).toBeGreaterThanOrEqual(2);
});

it("the stored version changes with the release, at each step and back", async () => {
  const { faults } = await explore({
    ...{ setup: inSecond, upgradeFrom: inFirst, scenario: makesTask, ...options },
    resources: [tasks("v2", "v2")],
    resourcesFrom: [tasks("v1", "v1")],
    // Defaults of the stored version differ, and those of tasks say which one it was.
    normalise: ({ spec, ...object }: { spec?: Task["spec"] }) => {
      const { timeZone, schedule, at } = spec ?? {};
      return { ...object, apiVersion: "", spec: { timeZone, schedule, at } };
    },
  } as ExploreOperatorOptions);
  const { upgrade = 0, "roll-back": back = 0 } = faults;
  expect(upgrade).toBeGreaterThanOrEqual(1);
  expect(back).toBeGreaterThanOrEqual(1);
});
