import { FakeClock } from "@holdfast/clock/testing";
import {
  FakeApi,
  type FakeApiSnapshot,
  type FakeRequest,
  type Fault,
} from "@holdfast/fake-apiserver";
import { builtIn, isApiError, isConnectionError, type KubeObject } from "@holdfast/kubernetes";
import { seededRandom } from "@holdfast/wait/strategies";
import { AbortCallbacks } from "../../../../test/abort-callbacks.ts";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { pick, randomFault } from "./simulated-faults.ts";
import { collect, differences, undesired } from "./simulated-outcome.ts";
import { Secret, SimulatedReplica, Vault } from "./simulated-replica.ts";

const Lease = builtIn<KubeObject & { spec?: { holderIdentity?: string } }>(
  "coordination.k8s.io/v1",
  "Lease",
);
const Event = builtIn<KubeObject>("events.k8s.io/v1", "Event");

const NAMESPACE = "default";
/** As long as a replica may take to stop: 20 s of drain, 10 s of release, 7 s of the rest. */
const LONGEST_STOP = 37_000;
/** Above the longest backoff plus the idle timeout. */
const READ_ONLY = 60_000;
const RELIST = 120_000;
/** Above the sum of the time limit of a request, the idle timeout, the longest backoff and a lease. */
const QUIET = 120_000;

/** What came of a world. Two runs of one seed give the same. */
export interface SimulationReport {
  readonly faults: readonly string[];
  /** What happened, oldest first. */
  readonly trace: readonly string[];
  readonly reconciles: number;
  /** Requests that met a fault. */
  readonly broken: number;
  readonly terms: number;
}

/** A backup of the server, and the term in which it was made. */
interface Backup {
  readonly snapshot: FakeApiSnapshot;
  readonly term: string;
}

/** Two replicas of an operator, a server that fails, and a user. */
export class SimulatedWorld {
  readonly #random: () => number;
  readonly #clock = new FakeClock();
  readonly #start = this.#clock.now();
  readonly #api: FakeApi;
  readonly #faults: string[] = [];
  readonly #trace: string[] = [];
  readonly #replicas: SimulatedReplica[] = [];
  readonly #ended: SimulatedReplica[] = [];
  readonly #stops: Promise<void>[] = [];
  /** The keys at work, by replica. */
  readonly #working = new Map<string, string>();
  readonly #hasBackups: boolean;
  #backup: Backup | undefined;
  #faultRate = 0;
  #isReadOnly = false;
  #isUp = true;
  #isQuiet = false;
  #token = 0;
  /** The replica of that token. */
  #leader = "";
  #terms = 0;
  #reconciles = 0;
  #broken = 0;
  #started = 0;

  constructor(seed: number) {
    const random = seededRandom(seed);
    this.#random = random;
    this.#hasBackups = random() < 0.25;
    const resources = [Vault, Secret, Lease, Event];
    this.#api = new FakeApi({ clock: this.#clock, resources, random });
    this.#api.intercept({ fault: (request) => this.#faultOf(request) });
  }

  async run(): Promise<SimulationReport> {
    using callbacks = new AbortCallbacks();
    await this.#clock.run(() => this.#live(), { turns: 0 });
    const left = this.#clock.waiters();
    if (left > 0) this.#fault(`${left} timers are left`);
    if (callbacks.count > 0) this.#fault(`${callbacks.count} callbacks wait for an abort`);
    for (const { identity, stop } of this.#ended)
      if (abortListeners(stop.signal) > 0) this.#fault(`${identity} left a listener`);
    return {
      faults: this.#faults,
      trace: this.#trace,
      reconciles: this.#reconciles,
      broken: this.#broken,
      terms: this.#terms,
    };
  }

  async #live(): Promise<void> {
    const random = this.#random;
    this.#startReplica();
    this.#startReplica();
    for (let step = 10 + Math.floor(random() * 30); step > 0; step--) {
      await this.#clock.sleep(random() ** 3 * 30_000);
      await this.#act();
    }
    await this.#calm();
    await this.#compare();
    for (const replica of [...this.#replicas]) this.#stopReplica(replica);
    await Promise.all(this.#stops);
  }

  async #act(): Promise<void> {
    const random = this.#random;
    const happens = random();
    if (happens < 0.55)
      for (let edits = pick(random, 1, 2, 6); edits > 0; edits--) await this.#edit();
    else if (happens < 0.63) this.#faultRate = pick(random, 0, 0.03, 0.3);
    else if (happens < 0.75) this.#toggleServer();
    else if (happens < 0.8) this.#compact();
    else if (happens < 0.87) this.#cutOff(pick(random, ...this.#replicas));
    else if (happens < 0.95) this.#replace(pick(random, ...this.#replicas));
    else if (this.#hasBackups) await this.#backUpOrRestore();
  }

  /** A user changes something. */
  async #edit(): Promise<void> {
    if (!this.#isUp || this.#isReadOnly) return;
    const random = this.#random;
    const { client } = this.#api;
    const ref = { namespace: NAMESPACE, name: `v${Math.floor(random() * 6)}` };
    const spec = { name: `n${Math.floor(random() * 100)}` };
    const edits: Readonly<Record<string, () => Promise<unknown>>> = {
      create: () => client.create(Vault, { metadata: ref, spec }),
      change: () => client.patch(Vault, ref, { spec }),
      label: () => client.patch(Vault, ref, { metadata: { labels: { a: spec.name } } }),
      remove: () => client.delete(Vault, ref),
      replace: async () => {
        await client.delete(Vault, ref);
        await client.create(Vault, { metadata: ref, spec });
      },
      tamper: () => client.patch(Secret, ref, { data: { name: "dGFtcGVyZWQ=" } }),
      unlabel: () => client.patch(Secret, ref, { metadata: { labels: { app: null } } }),
      "remove the Secret of": () => client.delete(Secret, ref),
    };
    const name = pick(random, "create", "create", ...Object.keys(edits));
    this.#note(`user: ${name} ${ref.name}`);
    try {
      await edits[name]?.();
    } catch (error) {
      // There is no such object, or it is there or deleted already; or the server went away.
      if (!isApiError(error) && !isConnectionError(error)) throw error;
    }
  }

  #toggleServer(): void {
    this.#isUp = !this.#isUp;
    if (!this.#isUp) {
      this.#note("server: stop");
      this.#api.stop();
      return;
    }
    const history = pick(this.#random, "kept", "lost");
    this.#note(`server: start, history ${history}`);
    void this.#api.start({ history });
  }

  #compact(): void {
    this.#note("server: compact");
    this.#api.compact();
  }

  /** Requests of a replica hang from now on, and its watches are silent; or no longer. */
  #cutOff({ identity, transport }: SimulatedReplica): void {
    const isCut = !transport.isDeaf;
    this.#note(`${identity}: ${isCut ? "cut off" : "connected"}`);
    transport.hangs = () => isCut;
    transport.isDeaf = isCut;
  }

  #replace(replica: SimulatedReplica): void {
    this.#stopReplica(replica);
    this.#startReplica();
  }

  #startReplica(): void {
    const identity = `replica-${++this.#started}`;
    this.#note(`${identity}: start`);
    const world = {
      api: this.#api,
      clock: this.#clock,
      random: this.#random,
      isFlaky: () => !this.#isQuiet,
      enter: (identity: string, token: number, key: string) => this.#enter(identity, token, key),
      fault: (text: string) => this.#fault(text),
    };
    this.#replicas.push(
      new SimulatedReplica(identity, world, this.#hasBackups ? RELIST : Number.POSITIVE_INFINITY),
    );
  }

  #stopReplica(replica: SimulatedReplica): void {
    const { identity, stop, running } = replica;
    this.#note(`${identity}: stop`);
    this.#replicas.splice(this.#replicas.indexOf(replica), 1);
    const from = this.#clock.now();
    stop.abort(new Error("stop"));
    const check = async (): Promise<void> => {
      await running.catch((error: unknown) => this.#fault(`${identity} ended with ${error}`));
      const took = this.#clock.now() - from;
      if (took > LONGEST_STOP) this.#fault(`${identity} took ${took} ms to stop`);
      replica.search();
      this.#ended.push(replica);
    };
    this.#stops.push(check());
  }

  /**
   * Puts an older state of the server back. Until its caches have seen that, nothing is written: nothing in a
   * version shows that it was given twice. Nor does a backup of another term come back, with another leader.
   */
  async #backUpOrRestore(): Promise<void> {
    if (!this.#isUp || this.#isReadOnly) return;
    const { metadata, spec } = (await this.#api.client.find(Lease, "greeter/vaults")) ?? {};
    const term = `${spec?.holderIdentity} ${metadata?.annotations?.["holdfast/token"]}`;
    if (this.#backup?.term !== term) {
      this.#backup = { snapshot: this.#api.snapshot(), term };
      this.#note("server: backup");
      return;
    }
    this.#note("server: restore");
    this.#api.restore(this.#backup.snapshot);
    this.#isReadOnly = true;
    for (const { transport } of this.#replicas)
      Object.assign(transport, { hangs: () => false, isDeaf: false });
    await this.#clock.sleep(READ_ONLY);
    this.#note("server: writable");
    this.#isReadOnly = false;
  }

  /** The user's requests have no token, and meet no fault. */
  #faultOf(request: FakeRequest): Fault | undefined {
    if (request.headers["authorization"] === undefined) return undefined;
    const { verb } = request;
    if (this.#isReadOnly) {
      const isRead = verb === "get" || verb === "list" || verb === "watch";
      return isRead ? undefined : { type: "status", status: 503 };
    }
    if (this.#random() >= this.#faultRate) return undefined;
    this.#broken++;
    return randomFault(this.#random, request);
  }

  /** A reconcile begins. Returns the function that ends it. */
  #enter(replica: string, token: number, key: string): () => void {
    this.#reconciles++;
    if (token > this.#token) {
      this.#terms++;
      this.#token = token;
      this.#leader = replica;
    }
    if (token < this.#token)
      this.#fault(`${replica} works on ${key} with the token of an earlier term`);
    else if (replica !== this.#leader)
      this.#fault(`${replica} works on ${key} with the token of ${this.#leader}`);
    for (const [other, of] of this.#working)
      if (of !== replica || other === key)
        this.#fault(`${replica} and ${of} work on ${key}, ${other}`);
    this.#working.set(key, replica);
    return () => {
      this.#working.delete(key);
    };
  }

  async #calm(): Promise<void> {
    this.#note("quiet");
    this.#isQuiet = true;
    this.#faultRate = 0;
    if (!this.#isUp) this.#toggleServer();
    for (const replica of this.#replicas) if (replica.transport.isDeaf) this.#cutOff(replica);
    await this.#clock.sleep(this.#hasBackups ? QUIET + RELIST : QUIET);
  }

  async #compare(): Promise<void> {
    const vaults = await collect(this.#api.client.list(Vault));
    const secrets = await collect(this.#api.client.list(Secret));
    for (const text of undesired(vaults, secrets)) this.#fault(text);
    for (const { identity, ...caches } of this.#replicas) {
      const stale = [
        ...differences(caches.vaults.list(), vaults),
        ...differences(caches.secrets.list(), secrets),
      ];
      for (const text of stale) this.#fault(`cache of ${identity}: ${text}`);
    }
  }

  #note(text: string): void {
    this.#trace.push(`${this.#clock.now() - this.#start}: ${text}`);
  }

  #fault(text: string): void {
    this.#note(`FAULT: ${text}`);
    this.#faults.push(`${this.#clock.now() - this.#start}: ${text}`);
  }
}
