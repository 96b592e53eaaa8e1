import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { FakeApi, type RoleManifest } from "@holdfast/fake-apiserver";
import {
  builtIn,
  type KubeClient,
  type KubeObject,
  type Resource,
  runOperator,
} from "@holdfast/kubernetes";
import { expect } from "vitest";
import { ConfigMap, Deployment, Ingress, Service, Website } from "../../src/website/resources.ts";
import { websites } from "../../src/website/website.ts";
import { FakeDns } from "./fake-dns.ts";

interface EventObject extends KubeObject {
  reason?: string;
  note?: string;
}
const Event = builtIn<EventObject>("events.k8s.io/v1", "Event");
const Lease = builtIn<KubeObject>("coordination.k8s.io/v1", "Lease");

export const resources = [Website, ConfigMap, Service, Deployment, Ingress] as const;
export const TARGET = "ingress.example.org";
export const home = { namespace: "default", name: "home" };
export const child = { namespace: "default", name: "website-home" };
export const spec = { host: "www.example.org", page: "<h1>Hello</h1>" };

/** Says that all Pods of the Deployments are there, as the controllers of a cluster do. */
export async function startPods(client: KubeClient): Promise<void> {
  for await (const { metadata, spec: wanted } of client.list(Deployment)) {
    const { name, namespace, generation } = metadata;
    const replicas = wanted?.replicas ?? 1;
    const status = { observedGeneration: generation, replicas, availableReplicas: replicas };
    await client.patch(
      Deployment,
      { name, namespace: namespace as string },
      { status },
      { subresource: "status" },
    );
  }
}

/** The operator on a fake API server, with a provider in memory. */
export class WebsiteWorld {
  readonly clock: FakeClock = new FakeClock();
  readonly dns: FakeDns = new FakeDns();
  readonly api: FakeApi;
  readonly #isElected: boolean;

  /** @param rules - roles of the operator, which then leads by a Lease. Without them it may do everything */
  constructor(rules?: readonly RoleManifest[]) {
    this.#isElected = rules !== undefined;
    const served: Resource[] = [...resources, Event, Lease];
    this.api = new FakeApi({ clock: this.clock, resources: served, rules });
  }

  /** Runs a test on the fake clock, with an operator. */
  async run(test: () => Promise<void>): Promise<void> {
    await this.clock.run(async () => {
      const stop = new AbortController();
      const options = {
        name: "website",
        transport: this.api.transport,
        setup: websites(this.dns, TARGET),
        clock: this.clock,
        logger: silentLogger,
        leaderElection: this.#isElected && { namespace: "website" },
        health: false,
      } as const;
      const running = runOperator(options, stop.signal);
      await test();
      stop.abort();
      await running.catch(() => undefined); // without a right it may fail
    });
    expect(this.clock.waiters()).toBe(0);
  }

  async site() {
    return await this.api.client.get(Website, home);
  }

  /** The conditions, as `Available=True Serving`. */
  async conditions(): Promise<string[]> {
    const { status } = await this.site();
    return (status?.conditions ?? []).map((one) => `${one.type}=${one.status} ${one.reason}`);
  }

  async events(): Promise<string[]> {
    const found: string[] = [];
    for await (const { reason, note } of this.api.client.list(Event))
      found.push(`${reason}: ${note}`);
    return found;
  }
}
