import type { Clock } from "@holdfast/clock";
import { every, type Random } from "@holdfast/wait";
import { formatDuration } from "../../terminal/duration.ts";
import { DnsProvider } from "../provider/dns-provider.ts";
import { type ProviderServer, serveProvider } from "../provider/serve-provider.ts";
import type { HarnessApi } from "./api/harness-api.ts";
import { Drift } from "./drift.ts";
import { EventLog } from "./event-log.ts";
import { Invariants } from "./invariants.ts";
import { Population } from "./population.ts";
import { checkQuiet } from "./quiet.ts";
import type { Replica, ReplicaExit } from "./replica/replica.ts";
import { Replicas } from "./replicas.ts";
import { Truth } from "./truth.ts";

const REPLICAS = 3;

/** Interval between samples in milliseconds. */
const PERIOD = 250;

/** Time without faults or edits that counts as quiet, in milliseconds. */
const QUIET = 3_000;

/** Maximum time for a child process to stop, in milliseconds. */
const LONGEST_STOP = 25_000;

export interface HarnessOptions {
  readonly api: HarnessApi;
  readonly clock: Clock;
  readonly random: Random;
}

/** Replicas of the operator, a provider, objects, and the checks of the invariants. */
export class Harness implements AsyncDisposable {
  readonly api: HarnessApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly provider: DnsProvider;
  readonly server: ProviderServer;
  readonly replicas: Replicas;
  readonly truth: Truth;
  readonly population: Population;
  readonly drift: Drift;
  readonly invariants: Invariants = new Invariants();
  readonly log: EventLog;
  readonly #listeners = new Set<() => void>();
  readonly #end = new AbortController();
  readonly #replicasEnd = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  #replicasRunning: Promise<void> = Promise.resolve();
  /** Faults and edits in progress. */
  #busy = 0;
  #busyUntil: number;
  #terms = new Set<number>();
  #longestStop = 0;
  /** Reconciles of exited replicas. */
  #past = { reconciles: 0, failures: 0 };

  private constructor(options: HarnessOptions, provider: DnsProvider, server: ProviderServer) {
    const { api, clock, random } = options;
    const { client, namespace, access } = api;
    this.api = api;
    this.clock = clock;
    this.random = random;
    this.provider = provider;
    this.server = server;
    this.#busyUntil = clock.monotonic();
    this.drift = new Drift(clock);
    this.log = new EventLog(clock);
    this.truth = new Truth(api, clock, (uid, key) => this.#checkDeletion(uid, key));
    this.population = new Population({ client, namespace, clock, random }, this.#end.signal);
    this.replicas = new Replicas({
      size: REPLICAS,
      clock,
      onReport: () => this.#changed(),
      replica: { access, namespace, providerUrl: server.url },
      onNote: ({ name }, text) => this.log.add(name, text),
      onExit: (replica, exit) => this.#onExit(replica, exit),
    });
  }

  static async open(options: HarnessOptions): Promise<Harness> {
    const { clock, random } = options;
    const provider = new DnsProvider({ clock, random });
    return new Harness(options, provider, await serveProvider(provider));
  }

  /** Aborts at the end of the harness. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get longestStop(): number {
    return this.#longestStop;
  }

  /** Number of changes of the leader. */
  get handOvers(): number {
    return Math.max(0, this.#terms.size - 1);
  }

  get reconciles(): { readonly reconciles: number; readonly failures: number } {
    const sum = { ...this.#past };
    for (const { report } of this.replicas.all) {
      sum.reconciles += report?.reconciles ?? 0;
      sum.failures += report?.failures ?? 0;
    }
    return sum;
  }

  /** Whether no fault or edit has been in progress for three seconds. */
  get isQuiet(): boolean {
    return this.#busy === 0 && this.clock.monotonic() - this.#busyUntil >= QUIET;
  }

  /** Starts everything, and creates the objects. */
  async start(records: number): Promise<void> {
    this.#running = Promise.all([this.truth.run(this.signal), this.#sample(), this.#touch()]);
    this.#replicasRunning = this.replicas.run(this.#replicasEnd.signal);
    await this.truth.ready(this.signal);
    await this.busy(() => this.population.create(records));
  }

  /** Runs a fault or an edit. The harness is not quiet meanwhile. */
  async busy<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#busy += 1;
    try {
      return await work();
    } finally {
      this.#busy -= 1;
      this.#busyUntil = this.clock.monotonic();
      this.#changed();
    }
  }

  /**
   * Waits until records, caches and statuses agree, and counts the checks.
   *
   * @returns milliseconds until they agreed; undefined if they did not, or if a fault or an edit came first
   */
  async settle(signal: AbortSignal): Promise<number | undefined> {
    const { clock, truth, replicas, provider, invariants } = this;
    const { namespace } = this.api;
    const options = { clock, truth, replicas, provider, invariants, namespace };
    return await checkQuiet(options, () => this.#busy === 0, signal);
  }

  /** Calls `listener` after each change of the displayed state. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Deletes all objects, and waits for their finalizers. */
  async clear(): Promise<void> {
    await this.busy(() => this.population.remove());
  }

  /** Stops the replicas gracefully. */
  async stopReplicas(): Promise<void> {
    this.#replicasEnd.abort();
    await this.#replicasRunning;
  }

  /** Kills the replicas and aborts the harness at once. */
  kill(): void {
    this.#replicasEnd.abort();
    this.replicas.killAll();
    this.#end.abort(new Error("killed"));
  }

  /** Stops the replicas, then the checks, then the provider. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopReplicas();
    this.#end.abort();
    await this.#running;
    await this.server[Symbol.asyncDispose]();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  async #sample(): Promise<void> {
    await this.truth.ready(this.signal);
    for await (const _ of every(PERIOD, { clock: this.clock, signal: this.signal })) {
      const episode = this.drift.sample(this.truth.differences(this.provider));
      if (episode !== undefined) {
        const { most, duration } = episode;
        this.log.add("drift", `0 again after ${formatDuration(duration)}, maximum ${most}`);
      }
      this.#countAudit();
      const { lease } = this.truth;
      if (lease !== undefined) this.#seeTerm(lease.token, lease.holder);
      this.#changed();
    }
  }

  #countAudit(): void {
    const { provider, invariants } = this;
    const { audit, requests, overQuota, refused } = provider;
    const { accepted, overlaps, overlapped, stale } = audit;
    invariants.count("overlap", accepted, overlaps, `${overlaps} writes overlapped: ${overlapped}`);
    invariants.count("quota", requests, overQuota, `${overQuota} requests exceeded the quota`);
    invariants.count("fencing", refused, stale, `${stale} writes of former leaders were accepted`);
  }

  #seeTerm(token: number, holder: string): void {
    if (this.#terms.has(token)) return;
    this.#terms.add(token);
    this.log.add(holder, `acquired the lease with token ${token}`);
  }

  async #touch(): Promise<void> {
    for await (const _ of every(2 * PERIOD, { clock: this.clock, signal: this.signal }))
      await this.population.touch().catch(() => undefined); // the server is down, or the zone does not exist yet
  }

  #checkDeletion(uid: string, key: string): void {
    const left = this.provider.records.of(uid);
    const problem =
      left.length === 0
        ? undefined
        : `${key} is deleted, but ${left[0]?.name} is still at the provider`;
    this.invariants.check("finalizer", problem);
  }

  #onExit({ name, report }: Replica, { isWanted, stopTook, text }: ReplicaExit): void {
    this.#past.reconciles += report?.reconciles ?? 0;
    this.#past.failures += report?.failures ?? 0;
    if (stopTook !== undefined) {
      this.#longestStop = Math.max(this.#longestStop, stopTook);
      const isLate = stopTook > LONGEST_STOP || !isWanted;
      this.invariants.check("stop", isLate ? `${name}: ${text}, ${stopTook} ms` : undefined);
    } else if (!isWanted) this.invariants.check("stop", `${name} exited unexpectedly: ${text}`);
    this.log.add(name, isWanted ? `exited (${text})` : `exited unexpectedly (${text})`);
  }
}
