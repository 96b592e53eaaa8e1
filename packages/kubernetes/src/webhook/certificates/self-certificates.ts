import type { Clock } from "@holdfast/clock";
import { Controller, type Logger } from "@holdfast/controller";
import type { Random } from "@holdfast/wait";
import { isApiError } from "../../client/api-error.ts";
import type { KubeClient } from "../../client/kube-client.ts";
import { Cluster } from "../../cluster/cluster.ts";
import { builtIn } from "../../object/built-in.ts";
import type { KubeObject } from "../../object/kube-object.ts";
import type { Resource } from "../../object/resource.ts";
import type { KubeTransport } from "../../transport/kube-transport.ts";
import type { Certificates, Show } from "./certificates.ts";
import type { CertificateStep } from "./decide.ts";
import {
  type BundleRead,
  type CertificateCommand,
  keepCertificates,
  type SecretRead,
} from "./keep.ts";
import { runFollowing } from "./run-following.ts";
import { dataOf, type KeyedState, type SecretObject, stateIn } from "./secret-state.ts";
import { bundleIn, bundlePatch, type TrustTarget } from "./trust-targets.ts";
import { namesOf, newAuthority, newLeaf, x509Library } from "./x509.ts";

/** Options for {@link SelfCertificates}. */
export interface SelfCertificatesOptions {
  readonly transport: KubeTransport;
  /** Name of the operator: its field manager, and a part of the names of its authorities. */
  readonly operator: string;
  readonly secret: { readonly name: string; readonly namespace: string };
  readonly targets: readonly TrustTarget[];
  /** The names of the server. */
  readonly names: readonly string[];
  readonly show: Show;
  readonly clock: Clock;
  readonly random: Random | undefined;
  readonly logger: Logger;
  /** Default: {@link TIMES}. */
  readonly times?: CertificateTimes;
}

/** Times of certificates, in milliseconds. */
export interface CertificateTimes {
  readonly authority: number;
  readonly leaf: number;
  /** Time before now from which a certificate holds: clocks of other machines are behind. */
  readonly backdate: number;
  /** Time between two steps of a rotation: all replicas have followed by then. */
  readonly settle: number;
  /** Longest time between two looks. */
  readonly period: number;
}

export const SECRET: Resource<SecretObject> = builtIn<SecretObject>("v1", "Secret");

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TIMES: CertificateTimes = {
  authority: 3_650 * DAY,
  leaf: 90 * DAY,
  backdate: HOUR,
  settle: HOUR,
  period: HOUR / 6,
};

/**
 * Certificates that the replicas of an operator make themselves, and share in one Secret. Each replica follows the Secret
 * and the configurations, and any of them takes the next step: a conflict of writes is the lock.
 */
export class SelfCertificates implements Certificates {
  readonly #options: SelfCertificatesOptions;
  readonly #times: CertificateTimes;
  readonly #cluster: Cluster;
  readonly #controller: Controller;
  /** Objects of this pass, as they were read. */
  readonly #read = new Map<number, KubeObject>();
  #secret: SecretObject | undefined;
  #shown: KeyedState | undefined;
  #bundleWrites = 0;
  /** Until this monotonic instant certificates of the future stay: two wrong clocks must not chase each other. */
  #futureFrom = Number.NEGATIVE_INFINITY;

  constructor(options: SelfCertificatesOptions) {
    this.#options = options;
    this.#times = options.times ?? TIMES;
    const { transport, operator, clock, random, logger, secret, targets } = options;
    const common = { clock, random, logger };
    this.#cluster = new Cluster({
      name: "certificate caches",
      transport,
      fieldManager: operator,
      ...common,
    });
    const { name, namespace } = secret;
    const watched = [
      this.#cluster.watch(SECRET, { namespaces: [namespace], fields: { "metadata.name": name } }),
      ...targets.map((target) =>
        this.#cluster.watch(target.resource, { fields: { "metadata.name": target.name } }),
      ),
    ];
    this.#controller = new Controller({
      name: "certificates",
      ...common,
      sources: watched.map((informer) => informer.source({ to: () => ["certificates"] })),
      reconcile: async ({ signal }) => {
        await this.#pass(signal);
        return { requeueAfter: this.#times.period };
      },
    });
  }

  get isTrusted(): boolean {
    return this.#shown !== undefined;
  }

  get expiry(): number | undefined {
    return this.#shown?.leaf.to;
  }

  get bundleWrites(): number {
    return this.#bundleWrites;
  }

  async run(signal: AbortSignal): Promise<void> {
    await x509Library();
    const parts = { cluster: this.#cluster, controller: this.#controller };
    this.#controller.add("certificates"); // also if there is no object that could wake it
    await runFollowing(parts, this.#options, signal);
  }

  async #pass(signal: AbortSignal): Promise<void> {
    const { clock, names, targets } = this.#options;
    const pass = keepCertificates<KeyedState>({
      ...{
        bundles: targets.length,
        shown: this.#shown,
        now: clock.now(),
        future: clock.monotonic() < this.#futureFrom ? Number.POSITIVE_INFINITY : clock.now(),
        settle: this.#times.settle,
      },
      names: namesOf(names),
    });
    let step = pass.next();
    while (step.done !== true) step = pass.next(await this.#execute(step.value, signal));
    this.#read.clear();
  }

  async #execute(command: CertificateCommand<KeyedState>, signal: AbortSignal): Promise<unknown> {
    switch (command.type) {
      case "read-secret":
        return await this.#readSecret(signal);
      case "write-secret":
        return await afterConflict(this.#writeSecret(command.version, command.state, signal));
      case "read-bundle":
        return await this.#readBundle(command.index, signal);
      case "write-bundle":
        return await afterConflict(this.#writeBundle(command.index, command.bundle, signal));
      case "issue":
        return await this.#issue(command);
      case "show":
        return this.#show(command.state);
    }
  }

  get #client(): KubeClient {
    return this.#cluster.client;
  }

  async #readSecret(signal: AbortSignal): Promise<SecretRead<KeyedState> | undefined> {
    const { secret } = this.#options;
    const found = await this.#client.find(SECRET, secret, { signal });
    this.#secret = found;
    return found && { version: found.metadata.resourceVersion, state: stateIn(found) };
  }

  async #writeSecret(
    version: string | undefined,
    state: KeyedState,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { secret } = this.#options;
    const data = dataOf(state);
    if (version === undefined)
      return await this.#client.create(
        SECRET,
        { metadata: secret, type: "Opaque", data },
        { signal },
      );
    const object = { ...this.#secret, data } as never;
    return await this.#client.update(SECRET, object, { signal });
  }

  async #readBundle(index: number, signal: AbortSignal): Promise<BundleRead | undefined> {
    const { resource, name } = this.#options.targets[index] as TrustTarget;
    const found = await this.#client.find(resource, name, { signal });
    const bundle = found && bundleIn(found);
    if (found === undefined || bundle === undefined) return undefined;
    this.#read.set(index, found);
    return { version: found.metadata.resourceVersion, bundle };
  }

  async #writeBundle(
    index: number,
    bundle: readonly string[],
    signal: AbortSignal,
  ): Promise<unknown> {
    const { resource, name } = this.#options.targets[index] as TrustTarget;
    const patch = bundlePatch(this.#read.get(index) as KubeObject, bundle);
    const written = await this.#client.patch(resource, name, patch, { signal });
    this.#bundleWrites++;
    return written;
  }

  #show(state: KeyedState): void {
    const { leaf } = state;
    if (leaf.cert !== this.#shown?.leaf.cert)
      this.#options.show({ cert: leaf.cert, key: leaf.key.reveal() });
    this.#shown = state;
  }

  async #issue({
    step,
    state,
    last,
  }: {
    readonly step: CertificateStep;
    readonly state: KeyedState | undefined;
    readonly last: readonly string[];
  }): Promise<KeyedState> {
    const { clock, operator, names, logger } = this.#options;
    const times = this.#times;
    const now = clock.now();
    this.#futureFrom = clock.monotonic() + times.period;
    const from = now - times.backdate;
    const authority = () =>
      newAuthority(`${operator} webhooks`, { from, to: now + times.authority });
    const leaf = (by: KeyedState["authority"]) =>
      newLeaf(by, names, { from, to: now + times.leaf });
    logger.info({ step }, "certificates of webhooks change");
    if (state === undefined || step === "create") {
      const by = await authority();
      return { authority: by, ...(last.length > 0 && { last }), leaf: await leaf(by), since: now };
    }
    const { authority: by, next } = state;
    if (step === "promote" && next !== undefined) {
      const before = [by.id, ...(state.last ?? [])];
      return { authority: next, last: before, leaf: await leaf(next), since: now };
    }
    if (step === "leaf") return { ...state, leaf: await leaf(by) };
    if (step === "settle") return { authority: by, leaf: state.leaf, since: now };
    return { ...state, next: await authority(), since: now };
  }
}

/** Undefined if another replica was faster. */
async function afterConflict(write: Promise<unknown>): Promise<unknown> {
  try {
    return await write;
  } catch (error) {
    if (isApiError(error, "Conflict") || isApiError(error, "AlreadyExists")) return undefined;
    throw error;
  }
}
