import { fileURLToPath } from "node:url";
import { silentLogger } from "@holdfast/controller";
import { runOperator } from "@holdfast/kubernetes";
import { describe, expect } from "vitest";
import { ownServerTest } from "../../../../test/cluster.ts";
import { ConfigMap, Greeting, greeter } from "../../src/greeter/greeter.ts";
import { GuardedCluster } from "../guarded-cluster.ts";

/** As in the guide. */
const MANIFESTS = ["crd.yaml", "greeter.yaml"].map((name) =>
  fileURLToPath(new URL(`../../src/greeter/deploy/${name}`, import.meta.url)),
);

describe("the greeter on a server where roles decide", () => {
  ownServerTest("works with the rights of its manifests, and uses each of them", async () => {
    await using cluster = await GuardedCluster.start(MANIFESTS);
    const { admin, namespace, transport } = cluster;
    const stop = new AbortController();
    const running = runOperator(
      {
        name: "greeter",
        transport,
        setup: greeter,
        logger: silentLogger,
        health: false,
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
    await admin.delete(ConfigMap, metadata);
    await cluster.until(async () => (await admin.find(ConfigMap, metadata)) !== undefined);
    stop.abort();
    await running;
    expect(cluster.denied).toEqual([]);
    expect(cluster.used).toEqual(cluster.granted);
  });
});
