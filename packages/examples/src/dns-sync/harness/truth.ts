import type { Clock } from "@holdfast/clock";
import { Controller, mapSource, type Source, silentLogger } from "@holdfast/controller";
import { builtIn, Cluster, type Informer, type KubeObject, keyOf } from "@holdfast/kubernetes";
import { DnsRecord, DnsZone, type Item, type Zone } from "../operator/resources.ts";
import type { DnsProvider } from "../provider/dns-provider.ts";
import type { HarnessApi } from "./api/harness-api.ts";
import { differencesBetween, type StoredRecord, type StoredZone } from "./desired.ts";

interface LeaseObject extends KubeObject {
  spec?: { holderIdentity?: string; renewTime?: string };
}
const Lease = builtIn<LeaseObject>("coordination.k8s.io/v1", "Lease");

/** The holder of the operator's lease. `renewedAt` is in milliseconds since the epoch. */
export interface Holding {
  readonly holder: string;
  readonly token: number;
  readonly renewedAt: number;
}

/** Objects listed from the server, independently of the operator. */
export interface ServerState {
  readonly records: readonly StoredRecord[];
  readonly zones: ReadonlyMap<string, StoredZone>;
}

/** The harness's own view of the objects: informers for the page, lists for the invariants. */
export class Truth {
  readonly #api: HarnessApi;
  readonly #cluster: Cluster;
  readonly #deletions: Controller<Deletion>;
  readonly #records: Informer<Item>;
  readonly #zones: Informer<Zone>;
  readonly #leases: Informer<LeaseObject>;

  /** @param onDelete - called once for each deleted record, even if a new one has its name */
  constructor(api: HarnessApi, clock: Clock, onDelete: (uid: string, key: string) => void) {
    this.#api = api;
    const { transport, namespace } = api;
    this.#cluster = new Cluster({ transport, clock, logger: silentLogger });
    const mine = { namespaces: [namespace] };
    this.#records = this.#cluster.watch(DnsRecord, mine);
    this.#zones = this.#cluster.watch(DnsZone, mine);
    this.#leases = this.#cluster.watch(Lease, { ...mine, fields: { "metadata.name": "dns-sync" } });
    this.#deletions = new Controller<Deletion>({
      name: "deletions",
      clock,
      logger: silentLogger,
      grace: 1_000,
      sources: [deletionsOf(this.#records)],
      keyOf: ({ uid }) => uid,
      reconcile: ({ item: { uid, key } }) => onDelete(uid, key),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#cluster.run(signal), this.#deletions.run(signal)]);
  }

  async ready(signal: AbortSignal): Promise<void> {
    await this.#cluster.ready(signal);
  }

  /** Whether the first lists are complete. Before, the replicas and the page are there, and nothing is known. */
  get isReady(): boolean {
    return [this.#records, this.#zones, this.#leases].every(({ hasSynced }) => hasSynced);
  }

  /** Differences between the provider and the harness's informers. Needs `isReady`. */
  differences(provider: DnsProvider): readonly string[] {
    const zones = new Map(this.#zones.list().map((zone) => [keyOf(zone), zone]));
    return differencesBetween(this.#records.list(), zones, provider.records.list());
  }

  get size(): number {
    return this.#records.size;
  }

  /** Highest resource version of a record. */
  get version(): number {
    const versions = this.#records.list().map(({ metadata }) => Number(metadata.resourceVersion));
    return Math.max(0, ...versions);
  }

  get lease(): Holding | undefined {
    if (!this.isReady) return undefined;
    const [lease] = this.#leases.list();
    const { holderIdentity, renewTime } = lease?.spec ?? {};
    if (!holderIdentity || renewTime === undefined) return undefined;
    const token = Number(lease?.metadata.annotations?.["holdfast/token"] ?? 0);
    return { holder: holderIdentity, token, renewedAt: Date.parse(renewTime) };
  }

  /** Lists records and zones from the server. */
  async read(signal: AbortSignal): Promise<ServerState> {
    const { client, namespace } = this.#api;
    const records: StoredRecord[] = [];
    const zones = new Map<string, StoredZone>();
    for await (const record of client.list(DnsRecord, { namespace, signal })) records.push(record);
    for await (const zone of client.list(DnsZone, { namespace, signal }))
      zones.set(keyOf(zone), zone);
    return { records, zones };
  }
}

interface Deletion {
  readonly uid: string;
  readonly key: string;
}

function deletionsOf(records: Informer<Item>): Source<Deletion> {
  return mapSource(records.changes(), ({ type, key, object }) =>
    type === "deleted" ? [{ uid: object.metadata.uid, key }] : [],
  );
}
