import { FakeClock } from "@holdfast/clock/testing";
import { OpenTelemetryMetrics } from "@holdfast/controller/opentelemetry";
import type { OperatorMetrics } from "@holdfast/kubernetes";
import { openTelemetryMetrics } from "@holdfast/kubernetes/opentelemetry";
import { prometheusMetrics } from "@holdfast/kubernetes/prometheus";
import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { keptBy, newMeter } from "../../../../test/metric-samples.ts";
import { OperatorWorld } from "../operator/operator-world.ts";

/** A whole operator, and the facts that it has none of. */
async function run(metrics: OperatorMetrics): Promise<() => Promise<void>> {
  const clock = new FakeClock();
  const world = new OperatorWorld(clock);
  await world.greet("ann");
  world.start("a", { metrics });
  await clock.step(30_000);
  metrics.requested({ method: "GET", code: "<error>", duration: 70 });
  metrics.watchEnded("pods", 999, 0);
  metrics.rejected("pods");
  metrics.applySkipped("pods");
  metrics.migrated?.("pods", "migrated");
  const webhooks = metrics.webhooks?.(() => ({
    inFlight: { "/convert": 2 },
    certificateExpiry: 1_800_000_000_000,
    bundleWrites: 3,
  }));
  webhooks?.answered({ webhook: "/convert", code: "200", duration: 3 });
  webhooks?.converted({ version: "example.org/v2", result: "success", objects: 12 });
  return () => world.end();
}

it("holds what a registry of prom-client holds after the same run", async () => {
  const { meter, collect } = newMeter();
  const register = new Registry();
  const ends = [
    await run(openTelemetryMetrics({ meter })),
    await run(prometheusMetrics({ register })),
  ];
  const found = await collect();
  expect(found).toEqual(await keptBy(register));
  const lines = found.flatMap(({ samples }) => samples);
  expect(lines).toContain("webhook_certificate_expiry_seconds{} 1800000000");
  expect(lines).toContain("webhook_bundle_writes_total{} 3");
  expect(lines).toContain('informer_objects{resource="greetings.example.org"} 1');
  for (const end of ends) await end();
});

it("shares a meter with existing controller metrics", async () => {
  const { meter, collect } = newMeter();
  const controllers = new OpenTelemetryMetrics({ meter });
  openTelemetryMetrics({ meter, controllers }).leadership("a", { isLeader: true });
  const leader = (await collect()).filter(({ name }) => name.startsWith("leader"));
  expect(leader.map(({ samples }) => samples)).toEqual([
    ['leader_election_master_status{name="a"} 1'],
  ]);
});
