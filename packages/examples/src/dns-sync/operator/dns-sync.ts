import { pathToFileURL } from "node:url";
import { ExponentialLimiter, TokenBucketLimiter } from "@holdfast/controller";
import type { CachedObject, OperatorSetup } from "@holdfast/kubernetes";
import {
  fromKubectl,
  generationChanged,
  inCluster,
  keyOf,
  runOperator,
} from "@holdfast/kubernetes";
import { type Fetch, providerOf } from "./provider.ts";
import { DnsRecord, DnsZone, type Item } from "./resources.ts";
import { syncRecord } from "./sync-record.ts";

const zone = ({ metadata, spec }: CachedObject<Item>) => [`${metadata.namespace}/${spec.zone}`];

const BACKOFF = { duration: 200, cap: 15_000, jitter: 0.2 };

interface DnsSyncOptions {
  readonly fetch?: Fetch;
  /** Requests per second to the provider. Replicas that share the work share the quota of the account. */
  readonly qps?: number;
}

/** Syncs the DnsRecords of a cluster to the DNS provider at `url`. */
export function dnsSync(url: string, options: DnsSyncOptions = {}): OperatorSetup {
  const { fetch = globalThis.fetch, qps = 100 } = options;
  return (context) => {
    const { cluster, clock, random, controller } = context;
    const zones = cluster.watch(DnsZone);
    const records = cluster.watch(DnsRecord, { indexes: { zone } });
    const limiter = new TokenBucketLimiter({ qps, burst: 20, clock }); // shared by all keys and terms
    return () => {
      const work = controller({
        name: "dns-sync",
        workers: 8,
        timeout: 20_000,
        grace: 10_000,
        limiter: new ExponentialLimiter({ ...BACKOFF, clock, random }),
        sources: [
          records.source({ when: generationChanged }),
          zones.source({ to: ({ key }) => records.by("zone", key).map(keyOf) }),
        ],
        async reconcile({ key, signal, leadership }) {
          const record = records.get(key);
          if (record === undefined) return;
          // The term of the leader; with shards, that of the key's slot.
          const provider = providerOf(leadership?.token ?? 0, { url, fetch, limiter, clock });
          return await syncRecord(record, { ...context, zones, provider, signal });
        },
      });
      return [work];
    };
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { DNS_PROVIDER_URL = "http://127.0.0.1:8053", DNS_PROVIDER_QPS, SHARDS } = process.env;
  await runOperator({
    name: "dns-sync",
    transport: process.env["KUBERNETES_SERVICE_HOST"] ? inCluster() : fromKubectl(),
    setup: dnsSync(DNS_PROVIDER_URL, { qps: Number(DNS_PROVIDER_QPS ?? 100) }),
    ...(SHARDS === undefined ? {} : { shards: { count: Number(SHARDS) } }),
    signals: process,
  });
}
