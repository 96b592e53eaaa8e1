import { fileURLToPath } from "node:url";
import { silentLogger } from "@holdfast/controller";
import { runOperator } from "@holdfast/kubernetes";
import { prometheusMetrics } from "@holdfast/kubernetes/prometheus";
import { Registry } from "prom-client";
import { describe, expect } from "vitest";
import { freePort } from "../../../../services/free-port.mjs";
import { ownServerTest } from "../../../../test/cluster.ts";
import { ConfigMap, Greeting, greeter } from "../../src/greeter/greeter.ts";
import { GuardedCluster } from "../guarded-cluster.ts";

/** As in the guide. */
const MANIFESTS = ["crd.yaml", "greeter.yaml"].map((name) =>
  fileURLToPath(new URL(`../../src/greeter/deploy/${name}`, import.meta.url)),
);

describe("the greeter on a server where roles decide", () => {
  ownServerTest("works with its rights, uses each of them, and serves its metrics", async () => {
    await using cluster = await GuardedCluster.start(MANIFESTS);
    const { admin, namespace, transport } = cluster;
    const register = new Registry();
    const port = await freePort();
    const stop = new AbortController();
    const running = runOperator(
      {
        name: "greeter",
        transport,
        setup: greeter,
        logger: silentLogger,
        health: { port, host: "127.0.0.1", metrics: () => register.metrics() },
        metrics: prometheusMetrics({ register }),
        leaderElection: { namespace },
      },
      stop.signal,
    );
    const metadata = { namespace: "default", name: "ann" };
    await admin.create(Greeting, { metadata, spec: { name: "Ann" } });
    const greeted = (text: string) => async (): Promise<boolean> =>
      (await admin.get(Greeting, metadata)).status?.text === text;
    await cluster.until(greeted("Hello, Ann!"));
    await admin.patch(Greeting, metadata, { spec: { name: "Bob" } });
    await cluster.until(greeted("Hello, Bob!"));
    const child = { ...metadata, name: "greeting-ann" };
    await admin.delete(ConfigMap, child);
    await cluster.until(async () => (await admin.find(ConfigMap, child)) !== undefined);
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    stop.abort();
    await running;
    for (const sample of [
      /^controller_runtime_reconcile_total\{controller="greeter",result="success"\} [1-9]/m,
      /^workqueue_depth\{name="greeter",controller="greeter",priority="0"\} \d+$/m,
      /^leader_election_master_status\{name="greeter"\} 1$/m,
      /^informer_synced\{resource="greetings.example.org"\} 1$/m,
    ])
      expect(metrics).toMatch(sample);
    expect(cluster.denied).toEqual([]);
    expect(cluster.used).toEqual(cluster.granted);
  });
});
