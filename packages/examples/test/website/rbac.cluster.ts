import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@holdfast/controller";
import {
  atUrl,
  customResource,
  KubeClient,
  type KubeObject,
  type KubeTransport,
  runOperator,
} from "@holdfast/kubernetes";
import { afterAll, describe, expect } from "vitest";
import { ownServerTest } from "../../../../test/cluster.ts";
import { Deployment, Ingress, Service, Website } from "../../src/website/resources.ts";
import { websites } from "../../src/website/website.ts";
import { GuardedCluster } from "../guarded-cluster.ts";
import { FakeDns } from "./fake-dns.ts";
import { child, home, spec, startPods, TARGET } from "./website-world.ts";

/** The server of the tests has CustomResourceDefinitions and no Ingresses: one stands for the other. */
const group = "networking.example.org";
const IngressCrd = customResource<KubeObject>({
  apiVersion: `${group}/v1`,
  kind: "Ingress",
  plural: "ingresses",
  spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
});

/** Asks for the Ingresses of the server as for those of Kubernetes. */
function withIngresses(transport: KubeTransport): KubeTransport {
  return {
    ...transport,
    send: ({ path, body, ...request }, signal) => {
      const more =
        body === undefined ? {} : { body: body.replace('"networking.k8s.io/v1"', `"${group}/v1"`) };
      const own = path.replace("/apis/networking.k8s.io/", `/apis/${group}/`);
      return transport.send({ ...request, ...more, path: own }, signal);
    },
  };
}

const folder = mkdtempSync(join(tmpdir(), "website-"));
const deploy = new URL("../../src/website/deploy/website.yaml", import.meta.url);
const manifests = Object.entries({
  "crd.yaml": JSON.stringify(Website.crd),
  "ingresses.yaml": JSON.stringify(IngressCrd.crd),
  "deploy.yaml": readFileSync(deploy, "utf8").replace("[networking.k8s.io]", `[${group}]`),
}).map(([name, text]) => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
});

afterAll(() => rmSync(folder, { recursive: true }));

describe("the Website operator on a server where roles decide", () => {
  ownServerTest("serves a site with its rights, and uses each of them", async () => {
    await using cluster = await GuardedCluster.start(manifests);
    const { namespace, server } = cluster;
    const { url, ca, adminToken } = server;
    const transport = withIngresses(atUrl(url, { ca, token: () => adminToken }));
    const admin = new KubeClient({ transport, logger: silentLogger });
    const dns = new FakeDns();
    const stop = new AbortController();
    const running = runOperator(
      {
        name: "website",
        transport: withIngresses(cluster.transport),
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
