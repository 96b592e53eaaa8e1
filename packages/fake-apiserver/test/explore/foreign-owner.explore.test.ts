import { customResource } from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import { ConfigMap, expectNoProblem, problemOf, reconciling, type Scenario, Thing } from "./kit.ts";

const Zone = customResource({
  apiVersion: "example.org/v1",
  kind: "Zone",
  plural: "zones",
  scope: "Cluster",
});

/** Makes a child with an owner that was written by hand. */
const making = (child: "here" | "elsewhere" | "of the cluster") =>
  reconciling(async ({ metadata: { name, namespace, uid } }, { client }) => {
    const ownerReferences = [{ apiVersion: "example.org/v1", kind: "Thing", name, uid }];
    if (child === "of the cluster")
      await client.apply(Zone, { metadata: { name, ownerReferences } });
    else
      await client.apply(ConfigMap, {
        metadata: { name, namespace: child === "here" ? namespace : "other", ownerReferences },
      });
  });
const resources = [Thing, ConfigMap, Zone];

// A name of its own: the client itself refuses owners that `ownerReference` has seen.
const scenario: Scenario = async ({ client }) => {
  await client.create(Thing, {
    metadata: { namespace: "default", name: "zoe" },
    spec: { name: "Zoe" },
  });
};

test("finds a child in another namespace than its owner", async () => {
  expect(await problemOf({ setup: making("elsewhere"), resources, scenario })).toContain(
    "configmaps other/zoe has the owner Thing zoe of another namespace: a cluster deletes or leaks it",
  );
});

test("finds a child of cluster scope whose owner has a namespace", async () => {
  expect(await problemOf({ setup: making("of the cluster"), resources, scenario })).toContain(
    "zones.example.org zoe has the owner Thing zoe of another namespace",
  );
});

test("passes if the child is in the namespace of its owner", () =>
  expectNoProblem({ setup: making("here"), resources, scenario }));
