// The rules of an exploration have the rights that the helpers of the library need in rare cases.

import { explore } from "@holdfast/fake-apiserver";
import { finalize } from "@holdfast/kubernetes";
import { expect, test } from "vitest";
import { ann, ConfigMap, childOf, reconciling, Thing } from "./kit.ts";

/** An operator with a finalizer and an Event, whose user meets neither a moved finalizer nor a second Event. */
const finalizing = reconciling(async (thing, { client, events }) => {
  await finalize(client, Thing, thing, {
    finalizer: "example.org/outside",
    async apply() {
      await client.apply(ConfigMap, { metadata: childOf(thing) });
      events.record(thing, { reason: "Ready", action: "Apply", note: "the child is there" });
      return undefined;
    },
    cleanup: () => undefined,
  });
});

test("the rules have the Lease, a repeated Event and a second read of finalize", async () => {
  const { rules, faults } = await explore({
    setup: finalizing,
    resources: [Thing, ConfigMap],
    pairs: 0,
    async scenario({ client, clock }) {
      await client.create(Thing, { metadata: ann, spec: { name: "Ann" } });
      await clock.sleep(5_000);
      await client.delete(Thing, ann);
    },
  });
  expect(faults["test-failed"]).toBe(2);
  const lease = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
  const things = { apiGroups: ["example.org"], resources: ["things"] };
  expect(rules).toEqual([
    { apiGroups: [""], resources: ["configmaps"], verbs: ["create", "patch"] },
    { ...lease, verbs: ["create", "get", "update"] },
    { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
    { ...things, verbs: ["get", "list", "patch", "watch"] },
  ]);
});
