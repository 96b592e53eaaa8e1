import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { FakeApi, type RoleManifest } from "@holdfast/fake-apiserver";
import { builtIn, type KubeObject, runOperator } from "@holdfast/kubernetes";
import { seededRandom } from "@holdfast/wait/strategies";
import { definedResources } from "../../src/dns-sync/manifests.ts";
import { dnsSync } from "../../src/dns-sync/operator/dns-sync.ts";
import type { Fetch } from "../../src/dns-sync/operator/provider.ts";
import { DnsRecord, DnsZone, type Item } from "../../src/dns-sync/operator/resources.ts";
import { DnsProvider } from "../../src/dns-sync/provider/dns-provider.ts";

interface EventObject extends KubeObject {
  reason?: string;
  note?: string;
  regarding?: { name?: string };
}
const Event = builtIn<EventObject>("events.k8s.io/v1", "Event");
export const Lease = builtIn("coordination.k8s.io/v1", "Lease");

/** Returns a `fetch` served by a provider in memory. */
export function fetchFrom(provider: DnsProvider): Fetch {
  return async (input, init = {}) => {
    const { pathname, search } = new URL(String(input));
    const token = new Headers(init.headers).get("fencing-token") ?? undefined;
    const request = { method: init.method ?? "GET", path: `${pathname}${search}`, token };
    const answer = await provider.handle(request);
    init.signal?.throwIfAborted();
    const headers = new Headers({ "content-type": answer.type });
    if (answer.retryAfter !== undefined) headers.set("retry-after", `${answer.retryAfter}`);
    return new Response(answer.body, { status: answer.status, headers });
  };
}

/** Replicas of the operator, a fake API server and a provider in memory, all on one fake clock. */
export class OperatorWorld {
  readonly clock: FakeClock = new FakeClock();
  readonly random = seededRandom(1);
  readonly provider: DnsProvider = new DnsProvider({ clock: this.clock, random: this.random });
  readonly api: FakeApi;
  #beforeWrite: (token: number) => Promise<void> | undefined = () => undefined;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];

  constructor(resources = definedResources(), rules?: readonly RoleManifest[]) {
    this.api = new FakeApi({ clock: this.clock, resources: [...resources, Event, Lease], rules });
  }

  /** Starts a replica. Resolves with a function that stops it. */
  start(identity = "one", transport = this.api.transport, shards?: number): () => Promise<void> {
    const stop = new AbortController();
    const running = runOperator(
      {
        name: "dns-sync",
        identity,
        transport,
        clock: this.clock,
        random: this.random,
        setup: dnsSync("http://provider", {
          fetch: async (input, init) => {
            if (init?.method !== "GET")
              await this.#beforeWrite(Number(new Headers(init?.headers).get("fencing-token")));
            return await fetchFrom(this.provider)(input, init);
          },
        }),
        ...(shards === undefined
          ? { leaderElection: { namespace: "dns-sync" } }
          : { shards: { namespace: "dns-sync", count: shards } }),
        health: false,
        logger: silentLogger,
      },
      AbortSignal.any([this.#stop.signal, stop.signal]),
    );
    this.#running.push(running);
    return async () => {
      stop.abort();
      await running;
    };
  }

  /** Holds the next write to the provider back until it may arrive: a slow network. `token` waits for it. */
  holdNextWrite(): { token(): Promise<number>; arrive(): void } {
    let token: number | undefined;
    let arrive = (): void => undefined;
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    this.#beforeWrite = (own) => {
      if (token !== undefined) return undefined;
      token = own;
      return arrived;
    };
    return {
      arrive,
      token: async () => {
        while (token === undefined) await this.clock.sleep(10);
        return token;
      },
    };
  }

  /** Runs a test on the fake clock, then stops all replicas. */
  async run(test: () => Promise<void>): Promise<void> {
    await this.clock.run(async () => {
      await test();
      this.#stop.abort();
      await Promise.all(this.#running);
    });
  }

  async zone(name = "web", domain = "example.org", ttl = 60): Promise<void> {
    await this.api.client.create(DnsZone, {
      metadata: { namespace: "default", name },
      spec: { domain, ttl },
    });
  }

  async record(name: string, spec: Partial<Item["spec"]> = {}): Promise<string> {
    const { metadata } = await this.api.client.create(DnsRecord, {
      metadata: { namespace: "default", name },
      spec: { zone: "web", host: name, type: "A", value: "192.0.2.1", ...spec },
    });
    return metadata.uid;
  }

  /** State and message of a record. */
  async stateOf(name: string): Promise<readonly (string | undefined)[]> {
    const record = await this.api.client.get(DnsRecord, `default/${name}`);
    return [record.status?.state, record.status?.conditions[0]?.message];
  }

  /** "www.example.org A 192.0.2.1 60" for each remote record. */
  get remote(): readonly string[] {
    return this.provider.records
      .list()
      .map(({ name, type, value, ttl }) => `${name} ${type} ${value} ${ttl}`)
      .sort();
  }

  async events(): Promise<readonly string[]> {
    const found: string[] = [];
    for await (const { reason, regarding } of this.api.client.list(Event))
      found.push(`${regarding?.name} ${reason}`);
    return found.sort();
  }
}
