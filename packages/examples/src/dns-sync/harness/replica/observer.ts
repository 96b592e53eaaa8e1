import { onAbort, type PassiveClock } from "@holdfast/clock";
import { Controller, type Logger, silentLogger } from "@holdfast/controller";
import type { Cluster, OperatorMetrics, OperatorSetup } from "@holdfast/kubernetes";
import { DnsRecord, DnsZone } from "../../operator/resources.ts";
import { measureUsage } from "../usage.ts";
import type { CacheVersions, FailingKey, ReplicaReport } from "./report.ts";

/** Interval between measurements of memory in milliseconds. */
const USAGE_PERIOD = 10_000;

/** Time that a key counts as failing after its retry was due, in milliseconds. */
const AFTERGLOW = 1_000;

const EMPTY = { size: 0, delayed: 0 };

/** Observes an operator through its setup, its log and its metrics. */
export class Observer {
  readonly #clock: PassiveClock;
  readonly #failing = new Map<string, FailingKey>();
  #cluster: Cluster | undefined;
  #controller: Controller | undefined;
  #token: number | undefined;
  #reconciles = 0;
  #failures = 0;
  #usage: ReplicaReport["usage"];
  #measuredAt = Number.NEGATIVE_INFINITY;

  readonly #note: (text: string) => void;

  /** @param note - receives unexpected warnings and errors of the operator */
  constructor(clock: PassiveClock, note: (text: string) => void) {
    this.#clock = clock;
    this.#note = note;
  }

  /** Wraps the operator's setup. */
  around(setup: OperatorSetup): OperatorSetup {
    return async (context) => {
      this.#cluster = context.cluster;
      const start = await setup(context);
      return (leadership) => {
        const work = start(leadership);
        this.#controller = work.find((part) => part instanceof Controller);
        this.#token = leadership.token;
        onAbort(leadership.signal, () => this.#end(leadership.token));
        return work;
      };
    };
  }

  /** Records failures of keys and passes unexpected warnings and errors to `note`. */
  get logger(): Logger {
    const fail = (details: object, message: string): void => {
      const { key, attempt, delay, err } = details as Record<string, unknown>;
      if (typeof key !== "string" || typeof attempt !== "number") {
        // Expected during faults, and retried by the library.
        if (!/^(watch|list|request to the lock) failed/.test(message)) this.#note(message);
        return;
      }
      const due = this.#clock.now() + Number(delay ?? 0);
      const error = err instanceof Error ? err.message : String(err);
      this.#failing.set(key, { key, attempt, error, due });
    };
    return { ...silentLogger, warn: fail, error: fail };
  }

  get metrics(): OperatorMetrics {
    const ignore = (): void => undefined;
    const reconciled = (outcome: string): void => {
      this.#reconciles += 1;
      if (outcome !== "success" && outcome !== "requeue_after") this.#failures += 1;
    };
    return {
      ...{
        requested: ignore,
        listed: ignore,
        watchEnded: ignore,
        rejected: ignore,
        applySkipped: ignore,
        leadership: ignore,
        shards: ignore,
        informers: ignore,
      },
      controller: () => ({ reconciled, activeWorkers: ignore, maxWorkers: ignore }),
      queue: () => ({
        depth: ignore,
        added: ignore,
        started: ignore,
        finished: ignore,
        retried: ignore,
        watch: ignore,
        ended: ignore,
      }),
    };
  }

  report(): ReplicaReport {
    const { queue, inFlight } = this.#controller?.status() ?? { queue: EMPTY, inFlight: [] };
    return {
      type: "report",
      hasSynced: this.#hasSynced,
      token: this.#token,
      queue: { size: queue.size, delayed: queue.delayed },
      inFlight: inFlight.map(({ key, age, attempt }) => ({ key, age, attempt })),
      failing: this.#stillFailing(),
      reconciles: this.#reconciles,
      failures: this.#failures,
      usage: this.#measured(),
    };
  }

  /** Versions in the operator's own caches: `watch` returns the existing informers. */
  cacheVersions(): CacheVersions {
    const cluster = this.#cluster;
    if (cluster === undefined || !this.#hasSynced) return {};
    const objects = [...cluster.watch(DnsRecord).list(), ...cluster.watch(DnsZone).list()];
    return Object.fromEntries(
      objects.map(({ kind, metadata: { namespace, name, resourceVersion } }) => [
        `${kind} ${namespace}/${name}`,
        resourceVersion,
      ]),
    );
  }

  get #hasSynced(): boolean {
    const informers = this.#cluster?.status().informers ?? [];
    return informers.length > 0 && informers.every(({ hasSynced }) => hasSynced);
  }

  #end(token: number): void {
    if (this.#token !== token) return;
    this.#token = undefined;
    this.#controller = undefined;
    this.#failing.clear();
  }

  #stillFailing(): readonly FailingKey[] {
    const now = this.#clock.now();
    for (const [key, { due }] of this.#failing)
      if (due + AFTERGLOW < now) this.#failing.delete(key);
    return [...this.#failing.values()].sort((a, b) => b.attempt - a.attempt).slice(0, 50);
  }

  #measured(): ReplicaReport["usage"] {
    const now = this.#clock.monotonic();
    if (now - this.#measuredAt >= USAGE_PERIOD) {
      this.#measuredAt = now;
      this.#usage = measureUsage();
    }
    return this.#usage;
  }
}
