import { fileURLToPath } from "node:url";
import { realClock } from "@holdfast/clock";
import { silentLogger } from "@holdfast/controller";
import {
  builtIn,
  isApiError,
  KubeClient,
  type KubeObject,
  type KubeTransport,
  runOperator,
} from "@holdfast/kubernetes";
import { seededRandom } from "@holdfast/wait/strategies";
import { describe, expect } from "vitest";
import { ownServerTest } from "../../../../test/cluster.ts";
import { dnsSync } from "../../src/dns-sync/operator/dns-sync.ts";
import { DnsRecord } from "../../src/dns-sync/operator/resources.ts";
import { DnsProvider } from "../../src/dns-sync/provider/dns-provider.ts";
import { type ProviderServer, serveProvider } from "../../src/dns-sync/provider/serve-provider.ts";
import { GuardedCluster } from "../guarded-cluster.ts";

const deploy = (name: string): string =>
  fileURLToPath(new URL(`../../src/dns-sync/deploy/${name}`, import.meta.url));

/** As in the README. */
const MANIFESTS = ["crds.yaml", "rbac.yaml", "deployment.yaml"].map(deploy);

const LEASE = { leaseDuration: 3_000, renewDeadline: 2_000, retryPeriod: 200 };

interface EventObject extends KubeObject {
  regarding?: { name?: string };
  note?: string;
  series?: { count: number };
}
const Event = builtIn<EventObject>("events.k8s.io/v1", "Event");

/** Replicas of the operator with the rights of its service account. */
class Replicas {
  readonly #cluster: GuardedCluster;
  readonly #provider: ProviderServer;
  readonly #stops = new Map<string, () => Promise<void>>();

  constructor(cluster: GuardedCluster, provider: ProviderServer) {
    this.#cluster = cluster;
    this.#provider = provider;
  }

  start(identity: string): void {
    const { transport, namespace } = this.#cluster;
    const stop = new AbortController();
    const running = runOperator(
      {
        name: "dns-sync",
        identity,
        transport: meddling(transport, this.#cluster.admin),
        setup: dnsSync(this.#provider.url),
        leaderElection: { namespace, ...LEASE },
        health: false,
        logger: silentLogger,
      },
      stop.signal,
    );
    this.#stops.set(identity, async () => {
      stop.abort();
      await running;
    });
  }

  async stop(identity: string): Promise<void> {
    await this.#stops.get(identity)?.();
    this.#stops.delete(identity);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const identity of this.#stops.keys()) await this.stop(identity);
  }
}

/** Adds a finalizer to the record `api` just before the operator does: it has to read the record again. */
function meddling(transport: KubeTransport, admin: KubeClient): KubeTransport {
  const { description } = transport;
  let hasMeddled = false;
  const send: KubeTransport["send"] = async (request, signal) => {
    if (
      !hasMeddled &&
      request.method === "PATCH" &&
      /\/dnsrecords\/api\b(?!\/)/.test(request.path)
    ) {
      hasMeddled = true;
      const metadata = { finalizers: ["example.org/other"] };
      await admin.patch(DnsRecord, "default/api", { metadata });
    }
    return await transport.send(request, signal);
  };
  return { description, send };
}

describe("dns-sync on a server where roles decide", () => {
  ownServerTest("works with the rights of its manifests, and uses each of them", async () => {
    await using cluster = await GuardedCluster.start(MANIFESTS);
    const { server, admin } = cluster;
    const random = seededRandom(1);
    await using provider = await serveProvider(new DnsProvider({ clock: realClock, random }));
    await using replicas = new Replicas(cluster, provider);
    const becomes = async (name: string, state: string): Promise<void> =>
      await cluster.until(
        async () => (await admin.get(DnsRecord, `default/${name}`)).status?.state === state,
      );
    const hasEvent = async (matches: (event: EventObject) => boolean): Promise<void> =>
      await cluster.until(async () => {
        for await (const event of admin.list(Event, { namespace: "default" }))
          if (event.regarding?.name === "typo" && matches(event)) return true;
        return false;
      });

    replicas.start("one");
    await server.kubectl("apply", "-f", deploy("records.yaml"));
    await becomes("www", "Synced");
    await becomes("api", "Synced");
    const { finalizers } = (await admin.get(DnsRecord, "default/api")).metadata;
    expect(finalizers).toEqual(["example.org/other", "dns.example.org/remote"]);
    await becomes("typo", "Rejected");
    await hasEvent(() => true);
    await server.kubectl("delete", "dnsrecord", "www");

    // A second rejection makes the Event a series, which the stop of the replica sends.
    const message = async (): Promise<string | undefined> =>
      (await admin.get(DnsRecord, "default/typo")).status?.conditions[0]?.message;
    const before = await message();
    await admin.patch(DnsRecord, "default/typo", { spec: { value: "still no address" } });
    await cluster.until(async () => (await message()) !== before);
    await replicas.stop("one");
    await hasEvent(({ series }) => series !== undefined);

    replicas.start("two");
    await admin.patch(DnsRecord, "default/typo", { spec: { value: "192.0.2.100" } });
    await becomes("typo", "Synced");
    await replicas.stop("two");

    expect(cluster.denied).toEqual([]);
    expect(cluster.used).toEqual(cluster.granted);

    // Without a right, the same requests are denied.
    const account = new KubeClient({ transport: cluster.transport, logger: silentLogger });
    const error: unknown = await account.delete(DnsRecord, "default/typo").catch((one) => one);
    expect(isApiError(error, "Forbidden")).toBe(true);
    expect(cluster.denied).toEqual([
      "delete /apis/dns.example.org/v1/namespaces/default/dnsrecords/typo",
    ]);
  });
});
