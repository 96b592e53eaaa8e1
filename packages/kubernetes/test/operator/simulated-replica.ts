import type { Clock } from "@holdfast/clock";
import {
  Controller,
  type ControllerMetrics,
  ExponentialLimiter,
  type QueueMetrics,
} from "@holdfast/controller";
import type { FakeApi } from "@holdfast/fake-apiserver";
import {
  builtIn,
  type CachedObject,
  customResource,
  finalize,
  generationChanged,
  type Informer,
  type KubeObject,
  type KubeTransport,
  type OperatorContext,
  type OperatorMetrics,
  ownerOf,
  ownerReference,
  type RequestMetric,
  runOperator,
  type StartWork,
} from "@holdfast/kubernetes";
import type { Random } from "@holdfast/wait";
import { quietLogger, SECRET_DATA, searchForSecrets, TOKEN } from "../secrets.ts";
import { ReplicaTransport } from "./operator-world.ts";
import { pick } from "./simulated-faults.ts";

export interface VaultObject extends KubeObject {
  spec: { name: string };
  status?: { name: string };
}

export interface SecretObject extends KubeObject {
  data?: { [name: string]: string };
}

/** The simulated operator keeps a Secret for each Vault. */
export const Vault = customResource<VaultObject>({
  apiVersion: "example.org/v1",
  kind: "Vault",
  plural: "vaults",
});
export const Secret = builtIn<SecretObject>("v1", "Secret");
export const FINALIZER = "example.org/secret";

/** The data of the Secret of a Vault. */
export function dataOf({ spec }: CachedObject<VaultObject>): { [name: string]: string } {
  return { name: Buffer.from(spec.name).toString("base64"), password: SECRET_DATA };
}

/** The world that a replica lives in. */
export interface ReplicaWorld {
  readonly api: FakeApi;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether reconciles fail by themselves now and then. */
  readonly isFlaky: () => boolean;
  /** Reports a reconcile that begins; the function that it returns reports its end. */
  readonly enter: (replica: string, token: number, key: string) => () => void;
  readonly fault: (text: string) => void;
}

/** One process with the operator. */
export class SimulatedReplica {
  readonly identity: string;
  readonly stop = new AbortController();
  readonly transport: ReplicaTransport;
  readonly running: Promise<void>;
  readonly #world: ReplicaWorld;
  readonly #logger = quietLogger();
  /** By how much events of watches are late, in milliseconds. */
  readonly #lag: number;
  readonly #metrics = new TextMetrics();
  readonly #context: OperatorContext;
  readonly vaults: Informer<VaultObject>;
  readonly secrets: Informer<SecretObject>;

  constructor(identity: string, world: ReplicaWorld, relistEvery: number) {
    const { clock, random } = world;
    this.identity = identity;
    this.#world = world;
    this.#lag = pick(random, 0, 20, 500);
    this.transport = new ReplicaTransport(world.api);
    const contexts: OperatorContext[] = [];
    this.running = runOperator(
      {
        name: "vaults",
        identity,
        clock,
        random,
        health: false,
        ...{
          transport: this.#transport(),
          cluster: { relistEvery, pageSize: 3, idleTimeout: 30_000 },
        },
        logger: this.#logger,
        metrics: this.#metrics,
        setup: (context) => {
          contexts.push(context);
          return this.#work;
        },
      },
      this.stop.signal,
    );
    // The setup runs before `runOperator` returns.
    this.#context = contexts[0] as OperatorContext;
    const { cluster } = this.#context;
    this.vaults = cluster.watch(Vault);
    this.secrets = cluster.watch(Secret, { labels: { app: "vaults" } });
  }

  /** Searches all that this process shows to others for secrets, beside its log and its errors. */
  search(): void {
    searchForSecrets([...this.#metrics.texts, this.#context.cluster.status()]);
  }

  /** The way to the server, with a token, and watches that are late. */
  #transport(): KubeTransport {
    const { transport } = this;
    return {
      description: transport.description,
      namespace: transport.namespace,
      send: async ({ headers, ...request }, signal) => {
        const authorization = `Bearer ${TOKEN}`;
        const own = { ...request, headers: { ...headers, authorization } };
        const response = await transport.send(own, signal);
        if (!request.path.includes("watch=true")) return response;
        return { ...response, body: this.#late(response.body, signal) };
      },
    };
  }

  async *#late(
    body: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of body) {
      if (this.#lag > 0) await this.#world.clock.sleep(this.#lag, { signal });
      yield chunk;
    }
  }

  readonly #work: StartWork = ({ token }) => {
    const { clock, random } = this.#world;
    const { logger } = this.#context;
    return [
      new Controller({
        name: "vaults",
        workers: 3,
        timeout: 30_000,
        clock,
        random,
        logger,
        limiter: new ExponentialLimiter({ duration: 50, cap: 30_000, clock }),
        queueMetrics: this.#metrics.queue("vaults"),
        metrics: this.#metrics.controller("vaults"),
        sources: [
          this.vaults.source({ when: generationChanged }),
          this.secrets.source({ to: ownerOf(Vault) }),
        ],
        onError: searchForSecrets,
        reconcile: async ({ key, signal }) => {
          const leave = this.#world.enter(this.identity, token, key);
          try {
            await this.#reconcile(key, signal);
          } finally {
            leave();
          }
        },
      }),
    ];
  };

  async #reconcile(key: string, signal: AbortSignal): Promise<void> {
    const { clock, random, isFlaky } = this.#world;
    const { client, events } = this.#context;
    if (random() < 0.3) await clock.sleep(random() ** 3 * 5_000, { signal });
    const vault = this.vaults.get(key);
    if (vault === undefined) return;
    if (isFlaky() && random() < 0.1) throw new Error("flaky");
    await finalize(client, Vault, vault, {
      finalizer: FINALIZER,
      signal,
      apply: (object: CachedObject<VaultObject>) => this.#apply(object, signal),
      cleanup: async ({ metadata }: CachedObject<VaultObject>) => {
        events.record(vault, { reason: "Removed", action: "Cleanup", note: "removed" });
        await client.delete(Secret, metadata, { signal });
      },
    });
  }

  async #apply(vault: CachedObject<VaultObject>, signal: AbortSignal): Promise<undefined> {
    const { client, events } = this.#context;
    events.record(vault, { reason: "Applied", action: "Apply", note: "applied" });
    const { name, namespace } = vault.metadata;
    const ownerReferences = [ownerReference(Vault, vault)];
    const metadata = { name, namespace, labels: { app: "vaults" }, ownerReferences };
    const secret = await client.apply(Secret, { metadata, data: dataOf(vault) }, { signal });
    const seen = Number(this.secrets.get(secret.metadata)?.metadata.resourceVersion);
    if (seen < Number(secret.metadata.resourceVersion))
      this.#world.fault(`${name}: the cache is older than an own write`);
    const status = { metadata: { name, namespace }, status: { name: vault.spec.name } };
    await client.apply(Vault, status, { subresource: "status", signal });
  }
}

/** Metrics of one replica: their texts, of which none may show a secret. */
class TextMetrics implements OperatorMetrics {
  readonly texts = new Set<string>();
  readonly #note = (...facts: readonly unknown[]): void => {
    for (const fact of facts) if (typeof fact !== "number") this.texts.add(JSON.stringify(fact));
  };

  requested({ method, code }: RequestMetric): void {
    this.#note(method, code);
  }
  readonly listed = this.#note;
  readonly watchEnded = this.#note;
  readonly rejected = this.#note;
  readonly applySkipped = this.#note;
  leadership(): void {}
  shards(): void {}
  informers(): void {}

  controller(name: string): ControllerMetrics {
    this.#note(name);
    return { reconciled: this.#note, activeWorkers: this.#note, maxWorkers: this.#note };
  }

  queue(name: string): QueueMetrics {
    this.#note(name);
    const note = this.#note;
    return {
      depth: note,
      added: note,
      retried: note,
      started: note,
      finished: note,
      watch() {},
      ended() {},
    };
  }
}
