import { slotOf } from "@holdfast/controller";
import {
  builtIn,
  type CachedObject,
  type Cluster,
  type Informer,
  type KubeObject,
  keyOf,
} from "@holdfast/kubernetes";
import { DnsRecord, type Item } from "./operator/resources.ts";
import type { DnsProvider } from "./provider/dns-provider.ts";
import type { Replicas } from "./replicas.ts";

interface LeaseObject extends KubeObject {
  spec?: { holderIdentity?: string };
}
const Lease = builtIn<LeaseObject>("coordination.k8s.io/v1", "Lease");

const LOGGED = 12;

interface Counts {
  readonly all: number;
  readonly synced: number;
}

/** What the page shows. */
export interface State {
  readonly api: string;
  readonly replicas: readonly { readonly name: string; readonly pid: number | undefined }[];
  /** The Lease of the leader, or of each slot. An empty holder: free. */
  readonly leases: readonly {
    readonly name: string;
    readonly holder: string;
    readonly token: string;
    /** The replica that asks for the slot, or "". */
    readonly wantedBy: string;
    readonly records: Counts;
  }[];
  readonly records: Counts;
  readonly provider: Readonly<
    Record<"records" | "requests" | "overQuota" | "refused", number> & { fault: string }
  >;
  /** The newest entry first. */
  readonly log: readonly string[];
}

export interface BoardOptions {
  readonly api: string;
  /** Number of slots; undefined with one leader. */
  readonly shards: number | undefined;
  readonly cluster: Cluster;
  readonly replicas: Replicas;
  readonly provider: DnsProvider;
}

/** The state of a run, read from the API server and the provider, never from a replica. */
export class Board {
  readonly #options: BoardOptions;
  readonly #leases: Informer<LeaseObject>;
  readonly #records: Informer<Item>;
  readonly #holders = new Map<string, string>();
  #log: readonly string[] = [];

  constructor(options: BoardOptions) {
    this.#options = options;
    this.#leases = options.cluster.watch(Lease, { namespaces: ["default"] });
    this.#records = options.cluster.watch(DnsRecord);
  }

  log(text: string): void {
    this.#log = [text, ...this.#log].slice(0, LOGGED);
  }

  state(): State {
    const { api, shards, replicas, provider } = this.#options;
    const { requests, overQuota, refused, fault = "" } = provider;
    const records = this.#records.list();
    const leases =
      shards === undefined
        ? [{ ...this.#leaseOf("dns-sync"), wantedBy: "", records: counted(records) }]
        : Array.from({ length: shards }, (_, slot) => ({
            ...this.#leaseOf(`dns-sync-slot-${slot}`),
            wantedBy: this.#leaseOf(`dns-sync-wish-${slot}`).holder,
            records: counted(records.filter((record) => slotOf(keyOf(record), shards) === slot)),
          }));
    for (const { name, holder } of leases) this.#follow(name, holder);
    return {
      api,
      replicas: replicas.list(),
      leases,
      records: counted(records),
      provider: { records: provider.records.size, requests, overQuota, refused, fault },
      log: this.#log,
    };
  }

  #leaseOf(name: string): Pick<State["leases"][number], "name" | "holder" | "token"> {
    const { metadata, spec } = this.#leases.get({ namespace: "default", name }) ?? {};
    const token = metadata?.annotations?.["holdfast/token"] ?? "";
    return { name, holder: spec?.holderIdentity ?? "", token };
  }

  #follow(name: string, holder: string): void {
    const before = this.#holders.get(name) ?? "";
    this.#holders.set(name, holder);
    if (before !== holder) this.log(`${name}: ${before || "free"} → ${holder || "free"}`);
  }
}

function counted(records: readonly CachedObject<Item>[]): Counts {
  const synced = records.filter(({ status }) => status?.state === "Synced").length;
  return { all: records.length, synced };
}
