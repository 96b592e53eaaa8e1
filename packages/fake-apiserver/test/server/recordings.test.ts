import { FakeClock } from "@holdfast/clock/testing";
import type { Webhook } from "@holdfast/kubernetes";
import { builtIn, fromCrd } from "@holdfast/kubernetes";
import { seededRandom } from "@holdfast/wait/strategies";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { differences } from "../../conformance/compare.ts";
import { normalForm } from "../../conformance/normal-form.ts";
import { readRecording } from "../../conformance/recordings.ts";
import { formatCrd, ruleCrd, widgetCrd, zoneCrd } from "../../conformance/resources.ts";
import { runScript, type SeenReview, type Send } from "../../conformance/run-script.ts";
import {
  callersOf,
  namespaceOf,
  type Script,
  type ScriptWebhook,
} from "../../conformance/script.ts";
import { scripts } from "../../conformance/scripts.ts";
import { tableCrds } from "../../conformance/tables.ts";
import { convertTask, taskCrd } from "../../conformance/tasks.ts";
import { ApiServer } from "../../src/server/api-server.ts";
import { servedResources } from "../../src/server/resource/served-resource.ts";
import { Rights } from "../../src/server/rights.ts";
import { ApiState } from "../../src/server/state/api-state.ts";
import { asWebhook } from "../as-webhook.ts";

// Rules that are not evaluated are reported; rules.test.ts compares the reports.
beforeAll(() => void vi.spyOn(process, "emitWarning").mockImplementation(() => undefined));
afterAll(() => void vi.restoreAllMocks());

const resources = [
  builtIn("v1", "ConfigMap"),
  builtIn("v1", "Secret"),
  builtIn("v1", "Pod"),
  builtIn("v1", "Namespace"),
  builtIn("v1", "PersistentVolumeClaim"),
  builtIn("apps/v1", "Deployment"),
  builtIn("batch/v1", "Job"),
  builtIn("coordination.k8s.io/v1", "Lease"),
  builtIn("events.k8s.io/v1", "Event"),
  builtIn("networking.k8s.io/v1", "Ingress"),
  builtIn("networking.k8s.io/v1", "NetworkPolicy"),
  builtIn("policy/v1", "PodDisruptionBudget"),
  fromCrd(widgetCrd),
  fromCrd(zoneCrd),
  fromCrd(formatCrd),
  fromCrd(ruleCrd),
  { ...fromCrd(taskCrd), convert: convertTask },
  ...tableCrds.map((crd) => fromCrd(crd)),
];
const served = servedResources(resources);

const known = scripts;

for (const [group, members] of Object.entries(known))
  describe(`FakeApi answers as the real server: ${group}`, () => {
    const recording = readRecording(group);

    it.each(members.map((script) => [script.name, script] as const))("%s", async (name, script) => {
      const clock = new FakeClock();
      const { forget, takeReviews, ...callers } = serverFor(script, clock);
      const answers = await clock.run(() =>
        runScript(callers.admin, script, { callers, forget: async () => forget(), takeReviews }),
      );
      const marks = script.uncompared ?? [];
      expect(differences(recording[name] ?? null, normalForm(script, answers), marks)).toEqual([]);
      expect(clock.waiters()).toBe(0);
    });
  });

/** The fake server, and its transports by caller. It asks for no token: callers have the rights of the script, or all. */
function serverFor(script: Script, clock: FakeClock) {
  const state = new ApiState();
  const random = seededRandom(1);
  const reviews: SeenReview[] = [];
  const webhooks = (script.webhooks ?? []).map((hook) => webhookOf(hook, reviews));
  const server = new ApiServer({ state, clock, random, served, webhooks, keptRequests: 100 });
  for (const [index, { fault, times = Number.POSITIVE_INFINITY }] of (
    script.webhooks ?? []
  ).entries())
    if (fault !== undefined)
      server.hookFaults.add({ hook: webhooks[index] as Webhook, fault, times }, webhooks);
  const rights = script.rules && new Rights(rolesOf(script));
  const admin: Send = (request, signal) => server.send(request, signal);
  const bound: Send = (request, signal) => server.send(request, signal, rights);
  const callers = { admin, viewer: bound, stranger: bound, bound, "cluster-bound": bound };
  return { ...callers, forget: () => state.compact(), takeReviews: () => reviews.splice(0) };
}

/** A webhook of a script, which keeps the reviews that it gets. */
function webhookOf({ configuration, answer }: ScriptWebhook, reviews: SeenReview[]): Webhook {
  return asWebhook({
    configuration,
    review: (request: SeenReview["request"]) => {
      reviews.push({ hook: configuration.name, request });
      return { uid: request["uid"], ...answer(request) };
    },
  });
}

/** The rules of a script, for its namespace or for the cluster. */
function rolesOf(script: Script) {
  const { rules = [] } = script;
  if (callersOf(script).has("cluster-bound")) return [{ kind: "ClusterRole", rules }];
  return [{ kind: "Role", metadata: { namespace: namespaceOf(script) }, rules }];
}
