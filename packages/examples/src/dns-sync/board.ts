import { realClock } from "@holdfast/clock";
import { slotOf } from "@holdfast/controller";
import { type SnapshotSource, type Span, withSpan } from "@holdfast/kit/node";
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

const LOGGED = 30;
/** Replicas have the colors of the page in turn. */
export const COLORS = 12;

interface Counts {
  readonly all: number;
  readonly synced: number;
}

/** What the page shows. */
export interface State {
  /** Instants are milliseconds since the epoch. */
  readonly at: number;
  readonly start: number;
  readonly api: string;
  readonly replicas: readonly {
    readonly name: string;
    readonly pid: number | undefined;
    /** The class of its color. */
    readonly look: string;
  }[];
  /** The Lease of the leader, or of each slot. An empty holder: free. */
  readonly leases: readonly {
    readonly name: string;
    readonly holder: string;
    readonly token: string;
    /** The replica that asks for the slot, or "". */
    readonly wantedBy: string;
    readonly records: Counts;
    /** Its holders so far. */
    readonly spans: readonly Span[];
    /** How long it had no living holder the last time, in milliseconds. */
    readonly handOver: number | undefined;
  }[];
  readonly records: Counts;
  readonly provider: Readonly<
    Record<"records" | "requests" | "overQuota" | "refused", number> & { fault: string }
  >;
  /** The newest entry first. */
  readonly log: readonly { readonly at: number; readonly text: string }[];
}

export interface BoardOptions {
  readonly api: string;
  /** Number of slots; undefined with one leader. */
  readonly shards: number | undefined;
  readonly cluster: Cluster;
  readonly replicas: Replicas;
  readonly provider: DnsProvider;
}

const FREE = "free";

/** How long a Lease had no living holder before the newest one, in milliseconds; undefined unless one has just taken over. */
function takeOverOf(spans: readonly Span[]): number | undefined {
  const last = spans.at(-1);
  const before = spans.slice(0, -1).findLastIndex(({ look }) => look !== FREE);
  const gap = spans[before + 1];
  if (last === undefined || gap === undefined || last.look === FREE) return undefined;
  return before < 0 || gap === last ? undefined : last.at - gap.at;
}

/** The state of a run, read from the API server and the provider, never from a replica. */
export class Board implements SnapshotSource<State> {
  readonly #options: BoardOptions;
  readonly #start = realClock.now();
  readonly #leases: Informer<LeaseObject>;
  readonly #records: Informer<Item>;
  readonly #spans = new Map<string, readonly Span[]>();
  readonly #handOvers = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  #log: State["log"] = [];

  constructor(options: BoardOptions) {
    this.#options = options;
    this.#leases = options.cluster.watch(Lease, { namespaces: ["default"] });
    this.#records = options.cluster.watch(DnsRecord);
  }

  /** Notes each change of a holder at the moment at which it is known, until the signal aborts. */
  follow(signal: AbortSignal): void {
    const enqueue = (): void => this.#look();
    const failed = (error: unknown): void => this.log(String(error));
    this.#leases.changes().start({ enqueue, failed, clock: realClock }, signal);
  }

  /** Notes an event. A replica that has gone holds nothing from now on. */
  log(text: string, at = realClock.now()): void {
    this.#log = [{ at, text }, ...this.#log].slice(0, LOGGED);
    if (this.#leases.hasSynced) this.#look();
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  snapshot(): State {
    const { api, shards, replicas, provider } = this.#options;
    const { requests, overQuota, refused, fault = "" } = provider;
    const records = this.#records.list();
    const leases = this.#names().map((name, slot) => {
      const own =
        shards === undefined
          ? records
          : records.filter((one) => slotOf(keyOf(one), shards) === slot);
      const wish = shards === undefined ? "" : this.#leaseOf(`dns-sync-wish-${slot}`).holder;
      const wantedBy = this.#isThere(wish) ? wish : "";
      return {
        ...this.#leaseOf(name),
        wantedBy,
        records: counted(own),
        spans: this.#spans.get(name) ?? [],
        handOver: this.#handOvers.get(name),
      };
    });
    return {
      at: realClock.now(),
      start: this.#start,
      api,
      replicas: replicas.list().map((one) => ({ ...one, look: lookOf(one.name) })),
      leases,
      records: counted(records),
      provider: { records: provider.records.size, requests, overQuota, refused, fault },
      log: this.#log,
    };
  }

  /** The Lease of the leader, or of each slot. */
  #names(): readonly string[] {
    const { shards } = this.#options;
    if (shards === undefined) return ["dns-sync"];
    return Array.from({ length: shards }, (_, slot) => `dns-sync-slot-${slot}`);
  }

  #isThere(holder: string): boolean {
    return this.#options.replicas.list().some(({ name }) => name === holder);
  }

  #look(): void {
    const at = realClock.now();
    for (const name of this.#names()) {
      const { holder } = this.#leaseOf(name);
      const isThere = this.#isThere(holder);
      const text = holder === "" ? FREE : isThere ? holder : `${holder} is gone`;
      const old = this.#spans.get(name) ?? [];
      const spans = withSpan(old, { at, look: isThere ? lookOf(holder) : FREE, text });
      if (spans === old) continue;
      this.#spans.set(name, spans);
      const handOver = takeOverOf(spans);
      if (handOver !== undefined) this.#handOvers.set(name, handOver);
      const after = handOver === undefined ? "" : ` takes over after ${handOver} ms`;
      this.log(`${name}: ${text}${after}`, at);
    }
  }

  #leaseOf(name: string): Pick<State["leases"][number], "name" | "holder" | "token"> {
    const { metadata, spec } = this.#leases.get({ namespace: "default", name }) ?? {};
    const token = metadata?.annotations?.["holdfast/token"] ?? "";
    return { name, holder: spec?.holderIdentity ?? "", token };
  }
}

/** replica-3 has the same color everywhere. */
function lookOf(name: string): string {
  return `replica${Number(name.split("-")[1]) % COLORS}`;
}

function counted(records: readonly CachedObject<Item>[]): Counts {
  const synced = records.filter(({ status }) => status?.state === "Synced").length;
  return { all: records.length, synced };
}
