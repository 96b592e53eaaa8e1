import {
  builtIn,
  type CachedObject,
  type Cluster,
  type Informer,
  type KubeObject,
} from "@holdfast/kubernetes";
import { DnsRecord, type Item } from "./operator/resources.ts";
import type { DnsProvider } from "./provider/dns-provider.ts";
import type { Replicas } from "./replicas.ts";

interface LeaseObject extends KubeObject {
  spec?: { holderIdentity?: string };
}
const Lease = builtIn<LeaseObject>("coordination.k8s.io/v1", "Lease");

const LOGGED = 12;

/** What the page shows. */
export interface State {
  readonly api: string;
  readonly replicas: readonly { readonly name: string; readonly pid: number | undefined }[];
  /** The Lease of the leader. An empty holder: free. */
  readonly leases: readonly {
    readonly name: string;
    readonly holder: string;
    readonly token: string;
  }[];
  readonly records: { readonly all: number; readonly synced: number };
  readonly provider: Readonly<
    Record<"records" | "requests" | "overQuota" | "refused", number> & { fault: string }
  >;
  /** The newest entry first. */
  readonly log: readonly string[];
}

export interface BoardOptions {
  readonly api: string;
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
    const { api, replicas, provider } = this.#options;
    const { requests, overQuota, refused, fault = "" } = provider;
    const leases = this.#leases.list().map(leaseOf).sort(byNumber);
    for (const { name, holder } of leases) this.#follow(name, holder);
    const records = this.#records.list();
    const synced = records.filter(({ status }) => status?.state === "Synced").length;
    return {
      api,
      replicas: replicas.list(),
      leases,
      records: { all: records.length, synced },
      provider: { records: provider.records.size, requests, overQuota, refused, fault },
      log: this.#log,
    };
  }

  #follow(name: string, holder: string): void {
    const before = this.#holders.get(name) ?? "";
    this.#holders.set(name, holder);
    if (before !== holder) this.log(`${name}: ${before || "free"} → ${holder || "free"}`);
  }
}

const byNumber = (a: { name: string }, b: { name: string }): number =>
  a.name.localeCompare(b.name, "en", { numeric: true });

function leaseOf({ metadata, spec }: CachedObject<LeaseObject>): State["leases"][number] {
  const token = metadata.annotations?.["holdfast/token"] ?? "";
  return { name: metadata.name, holder: spec?.holderIdentity ?? "", token };
}
