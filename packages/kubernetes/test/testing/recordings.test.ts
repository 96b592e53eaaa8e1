import { FakeClock } from "@holdfast/clock/testing";
import { builtIn, fromCrd, type KubeTransport } from "@holdfast/kubernetes";
import { FakeApi } from "@holdfast/kubernetes/testing";
import { describe, expect, it } from "vitest";
import { differences } from "../../../../conformance/kubernetes/compare.ts";
import { normalForm } from "../../../../conformance/kubernetes/normal-form.ts";
import { readRecording } from "../../../../conformance/kubernetes/recordings.ts";
import {
  formatCrd,
  ruleCrd,
  widgetCrd,
  zoneCrd,
} from "../../../../conformance/kubernetes/resources.ts";
import { runScript, type Send } from "../../../../conformance/kubernetes/run-script.ts";
import { scripts } from "../../../../conformance/kubernetes/scripts.ts";

const resources = [
  builtIn("v1", "ConfigMap"),
  builtIn("v1", "Secret"),
  builtIn("v1", "Pod"),
  builtIn("v1", "Namespace"),
  builtIn("apps/v1", "Deployment"),
  builtIn("coordination.k8s.io/v1", "Lease"),
  builtIn("events.k8s.io/v1", "Event"),
  fromCrd(widgetCrd),
  fromCrd(zoneCrd),
  fromCrd(formatCrd),
  fromCrd(ruleCrd),
];

const { rules: _, rights: __, ...known } = scripts;

for (const [group, members] of Object.entries(known))
  describe(`FakeApi answers as the real server: ${group}`, () => {
    const recording = readRecording(group);

    it.each(members.map((script) => [script.name, script] as const))("%s", async (name, script) => {
      const clock = new FakeClock();
      const api = new FakeApi({ clock, resources });
      const send = sendTo(api.transport);
      const answers = await clock.run(() =>
        runScript(send, script, {
          // Without tokens and rights every caller is an administrator; scripts mark what differs.
          callers: { viewer: send, stranger: send },
          forget: async () => api.compact(),
        }),
      );
      const marks = script.uncompared ?? [];
      expect(differences(recording[name] ?? null, normalForm(script, answers), marks)).toEqual([]);
      expect(clock.waiters()).toBe(0);
    });
  });

function sendTo(transport: KubeTransport): Send {
  return (request, signal) => transport.send(request, signal);
}
