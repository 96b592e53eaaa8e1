import { fileURLToPath } from "node:url";
import { silentLogger } from "@holdfast/controller";
import { runOperator } from "@holdfast/kubernetes";
import { describe, expect } from "vitest";
import { ownServerTest } from "../../../../test/cluster.ts";
import { Deployment, Ingress, Service, Website } from "../../src/website/resources.ts";
import { websites } from "../../src/website/website.ts";
import { GuardedCluster } from "../guarded-cluster.ts";
import { FakeDns } from "./fake-dns.ts";
import { child, home, spec, startPods, TARGET } from "./website-world.ts";

const DEPLOY = fileURLToPath(new URL("../../src/website/deploy/website.yaml", import.meta.url));

describe("the Website operator on a server where roles decide", () => {
  ownServerTest("serves a site with its rights, and uses each of them", async () => {
    await using cluster = await GuardedCluster.start([DEPLOY], Website.crd);
    const { admin, namespace, server, transport } = cluster;
    const dns = new FakeDns();
    const stop = new AbortController();
    const running = runOperator(
      {
        name: "website",
        transport,
        setup: websites(dns, TARGET),
        logger: silentLogger,
        health: false,
        leaderElection: { namespace },
      },
      stop.signal,
    );
    const conditions = async (): Promise<string[]> =>
      ((await admin.get(Website, home)).status?.conditions ?? []).map(
        ({ type, status, observedGeneration }) => `${type}=${status} ${observedGeneration}`,
      );
    const becomes = async (...expected: string[]): Promise<void> =>
      await cluster.until(async () => (await conditions()).join() === expected.join());

    await admin.create(Website, { metadata: home, spec });
    await becomes("Available=False 1", "Published=True 1");
    expect((await admin.get(Ingress, child)).spec?.rules?.[0]?.host).toBe(spec.host);
    expect([...dns.records.values()]).toEqual([`${spec.host} ${TARGET}`]);
    await startPods(admin);
    await becomes("Available=True 1", "Published=True 1");

    const template = async () =>
      JSON.stringify((await admin.get(Deployment, child)).spec?.template);
    const before = await template();
    await admin.patch(Website, home, { spec: { page: "<h1>Bye</h1>" } });
    await becomes("Available=False 2", "Published=True 2");
    expect(await template()).not.toBe(before);
    await admin.delete(Service, child);
    await cluster.until(async () => (await admin.find(Service, child)) !== undefined);

    dns.isDown = true; // the finalizer holds the object, an Event says why
    await admin.delete(Website, home);
    await cluster.until(async () => {
      const text = await server.kubectl("get", "events.events.k8s.io", "-o", "json");
      return text.includes("the provider is down");
    });
    dns.isDown = false;
    await cluster.until(async () => (await admin.find(Website, home)) === undefined);
    expect([...dns.records]).toEqual([]);
    stop.abort();
    await running;
    expect(cluster.denied).toEqual([]);
    // Only a finalizer that another writer moves, and a repeated Event, need these.
    const rare = ["example.org/websites get", "events.k8s.io/events patch"];
    const common = (rights: string[]) => rights.filter((right) => !rare.includes(right));
    expect(common(cluster.used)).toEqual(common(cluster.granted));
  });
});
