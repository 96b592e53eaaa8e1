import { FakeClock } from "@holdfast/clock/testing";
import { PrometheusMetrics } from "@holdfast/controller/prometheus";
import type { InformerStatus } from "@holdfast/kubernetes";
import { prometheusMetrics } from "@holdfast/kubernetes/prometheus";
import { Registry } from "prom-client";
import { beforeEach, describe, expect, it } from "vitest";
import { OperatorWorld } from "../operator/operator-world.ts";

let register: Registry;

beforeEach(() => {
  register = new Registry();
});

/** Samples of all metrics whose name begins so, without buckets. */
async function samples(name: string): Promise<string[]> {
  const lines = (await register.metrics()).split("\n");
  return lines.filter((line) => line.startsWith(name) && !line.includes("_bucket{"));
}

const reflector = (silentFor: number | undefined) =>
  ({ silentFor }) as InformerStatus["reflectors"][0];
const informer = (
  resource: string,
  size: number,
  ...silent: (number | undefined)[]
): InformerStatus => ({
  resource,
  size,
  hasSynced: !silent.includes(undefined),
  reflectors: silent.map(reflector),
});

describe("prometheusMetrics", () => {
  it("counts requests, lists and watches under the names of client-go", async () => {
    const metrics = prometheusMetrics({ register });
    metrics.requested({ method: "GET", code: "200", duration: 30 });
    metrics.requested({ method: "GET", code: "<error>", duration: 70 });
    metrics.listed("deployments.apps", 1_500, 12);
    metrics.rejected("deployments.apps");
    metrics.applySkipped("deployments.apps");
    metrics.watchEnded("deployments.apps", 999, 0);
    metrics.watchEnded("deployments.apps", 999, 1);
    metrics.watchEnded("deployments.apps", 1_000, 0);
    expect(await samples("rest_client")).toEqual([
      'rest_client_requests_total{code="200",method="GET"} 1',
      'rest_client_requests_total{code="<error>",method="GET"} 1',
      'rest_client_request_duration_seconds_sum{verb="GET"} 0.1',
      'rest_client_request_duration_seconds_count{verb="GET"} 2',
    ]);
    expect(await samples("client_")).toEqual([
      'client_skipped_applies_total{name="deployments.apps"} 1',
    ]);
    expect(await samples("reflector")).toEqual([
      'reflector_lists_total{name="deployments.apps"} 1',
      'reflector_list_duration_seconds_sum{name="deployments.apps"} 1.5',
      'reflector_list_duration_seconds_count{name="deployments.apps"} 1',
      'reflector_items_per_list_sum{name="deployments.apps"} 12',
      'reflector_items_per_list_count{name="deployments.apps"} 1',
      'reflector_watches_total{name="deployments.apps"} 3',
      'reflector_short_watches_total{name="deployments.apps"} 1',
      'reflector_watch_duration_seconds_sum{name="deployments.apps"} 2.998',
      'reflector_watch_duration_seconds_count{name="deployments.apps"} 3',
      'reflector_items_per_watch_sum{name="deployments.apps"} 1',
      'reflector_items_per_watch_count{name="deployments.apps"} 3',
      'reflector_rejected_objects_total{name="deployments.apps"} 1',
    ]);
  });

  it("reads informers at each scrape, those of one resource together", async () => {
    let informers: InformerStatus[] = [];
    prometheusMetrics({ register }).informers(() => informers);
    expect(await samples("informer")).toEqual([]);
    informers = [
      informer("pods", 3, 500, 2_000),
      informer("pods", 4, 100),
      informer("b", 0, undefined),
    ];
    expect(await samples("informer")).toEqual([
      'informer_objects{resource="pods"} 7',
      'informer_objects{resource="b"} 0',
      'informer_synced{resource="pods"} 1',
      'informer_synced{resource="b"} 0',
      'informer_age_seconds{resource="pods"} 2',
    ]);
    informers = [];
    expect(await samples("informer")).toEqual([]);
  });

  it("measures a whole operator", async () => {
    const clock = new FakeClock();
    const world = new OperatorWorld(clock);
    await world.greet("ann");
    const metrics = prometheusMetrics({ register });
    world.start("a", {
      metrics,
    });
    await clock.step(30_000);
    for (const sample of [
      'leader_election_master_status{name="greeter"} 1',
      'controller_runtime_reconcile_total{controller="greeter",result="success"} 1',
      'workqueue_adds_total{name="greeter",controller="greeter"} 1',
      'informer_objects{resource="greetings.example.org"} 1',
    ])
      expect(await samples(sample)).toEqual([sample]);
    expect((await samples("reflector_lists_total{"))[0]).toMatch(/greetings\.example\.org/);
    expect(await samples('rest_client_requests_total{code="201",method="POST"}')).toHaveLength(1);
    await world.end();
  });

  it("shares a registry with existing controller metrics", async () => {
    const controllers = new PrometheusMetrics({ register });
    prometheusMetrics({ register, controllers }).leadership("a", { isLeader: true });
    expect(await samples("leader")).toEqual(['leader_election_master_status{name="a"} 1']);
    expect(() => prometheusMetrics({ register })).toThrow("already been registered");
  });

  it.each<[object, string]>([
    [{ register: {} }, "options.register must have a method registerMetric()"],
    [{ register: new Registry(), controllers: {} }, "options.controllers must have a method"],
  ])("refuses %o", (options, message) =>
    expect(() => prometheusMetrics(options as never)).toThrow(message),
  );
});
