import { aborted, LinkedController } from "@holdfast/clock";
import type { Runnable, RunOptions } from "@holdfast/controller";
import { Hooks, holdOpen, requireSignal } from "@holdfast/kit";
import { shapeOf } from "../cache/object-shape.ts";
import { Scope } from "../cache/scope.ts";
import { Store } from "../cache/store.ts";
import type { ClientWrite } from "../client/client-write.ts";
import { KubeClient } from "../client/kube-client.ts";
import type { WriteHooks } from "../client/kube-client-options.ts";
import { KUBERNETES_METRICS } from "../kubernetes-metrics.ts";
import type { KubeObject } from "../object/kube-object.ts";
import type { Resource } from "../object/resource.ts";
import { catchUp, sync } from "../reflect/catch-up.ts";
import { Progress } from "../reflect/progress.ts";
import { Reflector, type ReflectorSettings } from "../reflect/reflector.ts";
import { runRef } from "../run-ref.ts";
import { CachedInformer } from "./cached-informer.ts";
import { type ClusterOptions, type ResolvedCluster, resolveCluster } from "./cluster-options.ts";
import type { ClusterStatus } from "./cluster-status.ts";
import type { Informer } from "./informer.ts";
import { ownWriteOf } from "./own-write-of.ts";
import { type ResolvedWatch, resolveWatch, type WatchOptions } from "./watch-options.ts";

/** An informer with the identity of its list and watch. */
interface Registration {
  readonly identity: string;
  readonly transform: unknown;
  readonly informer: CachedInformer;
}

/**
 * The informers of one API server, and a client whose writes they see at once.
 *
 * Declare informers with {@link Cluster.watch}, pass the cluster to a `Manager` before the controllers that read
 * them, or call {@link Cluster.run} yourself. Only its signal ends a cluster:
 *
 * | The server | The informer |
 * | --- | --- |
 * | closes a watch that brought something or was open for 5 s | watches on, at once |
 * | closes watches at once | watches on after 0.8 s, doubled to 20 s with jitter; lists after the third |
 * | sends nothing for `idleTimeout` | compares the server's version, and watches on, from then on for less than `idleTimeout`: the server's end of such a watch says that nothing has happened |
 * | responds 410: its history is too short | lists, and reports the difference |
 * | responds 429 or 503 and names a time | asks again after that time, plus up to 20 %, at most 5 minutes |
 * | responds with another error, breaks the connection, sends garbage | asks again after the backoff; lists after three watches that did not move its version |
 * | sends neither event nor bookmark nor the end of a watch for 10 minutes | lists |
 * | was restored from an older state | lists |
 *
 * An informer keeps its objects meanwhile. `status()` has the last error.
 *
 * @remarks
 * Source: `Cluster` of sigs.k8s.io/controller-runtime/pkg/cluster, `Reflector` of k8s.io/client-go/tools/cache.
 *
 * @example
 * ```ts no-run
 * import { builtIn, Cluster, fromKubectl } from "@holdfast/kubernetes";
 * import type { ConfigMap as ConfigMapObject } from "kubernetes-types/core/v1.js";
 *
 * const ConfigMap = builtIn<ConfigMapObject>("v1", "ConfigMap");
 * const cluster = new Cluster({ transport: fromKubectl() });
 * const settings = cluster.watch(ConfigMap, { labels: { app: "greeter" } });
 *
 * const stop = new AbortController();
 * const running = cluster.run(stop.signal);
 * await cluster.ready(stop.signal);
 * console.log(settings.get("default/greeter")?.data);
 * stop.abort();
 * await running;
 * ```
 */
export class Cluster implements Runnable {
  /** Name of the cluster. */
  readonly name: string;

  /** Client of the server. Its informers see a write before the call resolves. */
  readonly client: KubeClient;

  readonly #options: ResolvedCluster;
  readonly #settings: ReflectorSettings;
  readonly #progress = new Progress();
  readonly #registrations: Registration[] = [];
  #state: ClusterStatus["state"] = "idle";
  #crdDifferences: ClusterStatus["crdDifferences"];
  /** Starts a reflector in the run. Undefined when there is none. */
  #start: ((reflector: Reflector) => void) | undefined = undefined;

  /**
   * @param options - see {@link ClusterOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: ClusterOptions);
  /** @internal */
  constructor(options: ClusterOptions, hooks: Pick<WriteHooks, "beforeWrite">);
  constructor(options: ClusterOptions, { beforeWrite }: Pick<WriteHooks, "beforeWrite"> = {}) {
    const resolved = resolveCluster(options);
    const { name, fieldManager, random, target, metrics } = resolved;
    const { transport, clock, logger } = target;
    const onWrite = (write: ClientWrite): void => this.#follow(write);
    this.name = name;
    this.client = new KubeClient(
      { transport, clock, logger, metrics, fieldManager, random },
      { onWrite, beforeWrite },
    );
    this.#options = resolved;
    const hooks = new Hooks(logger, clock, "metrics failed");
    const guarded = hooks.guarded("metrics", metrics, KUBERNETES_METRICS);
    this.#settings = { ...resolved, hooks, metrics: guarded, progress: this.#progress };
  }

  /**
   * The informer of a resource. The same list and watch gets the same informer: resource, namespaces, selectors,
   * `metadataOnly` and `transform` count, indexes are added to those that are there. An informer of a
   * running cluster starts at once. {@link Informer.stop} ends one.
   *
   * @param resource - the resource
   * @param options - see {@link WatchOptions}
   * @returns the informer
   * @throws RangeError or TypeError for a bad option, or an index that has another function already
   */
  watch<T extends KubeObject, U extends KubeObject = T>(
    resource: Resource<T, KubeObject>,
    options: WatchOptions<T, U> = {},
  ): Informer<U> {
    const resolved = resolveWatch(resource, options as unknown as WatchOptions);
    const { identity, transform, indexes } = resolved;
    const known = this.#registrations.find(
      (one) => one.identity === identity && one.transform === transform,
    );
    const informer = known?.informer ?? this.#createInformer(resolved);
    informer.addIndexes(indexes);
    if (known === undefined) {
      this.#registrations.push({ identity, transform, informer });
      for (const reflector of informer.reflectors) this.#start?.(reflector);
    }
    return informer as unknown as Informer<U>;
  }

  /**
   * Keeps the informers up to date until `signal` aborts.
   *
   * @param signal - ends every list and watch, at once
   * @param options - see `RunOptions` of `@holdfast/controller`
   * @returns a promise that resolves after the abort. No request, timer or listener remains, and no connection of
   * the transport that no other request uses. Informers keep their objects, and continue from them in another
   * run. Rejects with an Error if the cluster is already running, and with the error of a `backoff` that ends
   */
  async run(signal: AbortSignal, options: RunOptions = {}): Promise<void> {
    requireSignal("signal", signal);
    const ref = runRef(options);
    if (this.#state !== "idle") throw new Error(`cluster "${this.name}" is already running`);
    const hold = ref ? holdOpen(this.#options.target.clock) : undefined;
    this.#state = "running";
    try {
      await this.#run(signal);
    } finally {
      this.#state = "idle";
      hold?.[Symbol.dispose]();
    }
  }

  /**
   * Resolves when the first list of every informer is complete, without a time limit: `status()` shows why it
   * is not. Rejects with `signal.reason` after an abort.
   */
  ready(signal: AbortSignal): Promise<void> {
    requireSignal("signal", signal);
    const hasSynced = (): boolean =>
      this.#registrations.every(({ informer }) => informer.hasSynced);
    return this.#progress.until(hasSynced, signal);
  }

  /**
   * Resolves when every informer has all that the server has at the time of the call. A new leader waits for it,
   * since its caches may lag behind the last writes of its predecessor.
   *
   * An informer asks for the server's current version and waits until its watch has come to it. It lists when
   * the watch has not moved for 1 s, after 5 s, and if the version is not available. So it takes about 1 s for a
   * kind of which nothing has changed lately. A kind whose lists fail for 15 s more is left as it is, with a warning;
   * what failed before the call may have been an outage that is over.
   * Rejects with `signal.reason` after an abort.
   */
  async catchUp(signal: AbortSignal): Promise<void> {
    requireSignal("signal", signal);
    await Promise.all(this.#reflectors.map((reflector) => catchUp(reflector, signal)));
  }

  /**
   * As {@link Cluster.ready}, but leaves a kind whose lists have failed for 15 s, with a warning.
   *
   * @internal
   */
  async settled(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => sync(reflector, signal)));
  }

  /** Status as plain data: `JSON.stringify` it for a health endpoint. */
  status(): ClusterStatus {
    const informers = this.#registrations.map(({ informer }) => informer.status());
    return {
      name: this.name,
      state: this.#state,
      informers,
      ...(this.#crdDifferences !== undefined && { crdDifferences: this.#crdDifferences }),
    };
  }

  /**
   * The resources of the informers that have a manifest, each once.
   *
   * @internal
   */
  definedResources(): readonly (Resource & { readonly crd: object })[] {
    const resources = new Set(this.#reflectors.map(({ listWatch }) => listWatch.resource));
    return [...resources].filter((one) => one.crd !== undefined) as never;
  }

  /** @internal */
  setCrdDifferences(name: string, differences: readonly string[]): void {
    this.#crdDifferences = { ...this.#crdDifferences, [name]: differences };
  }

  get #reflectors(): Reflector[] {
    return this.#registrations.flatMap(({ informer }) => informer.reflectors);
  }

  async #run(signal: AbortSignal): Promise<void> {
    const ends: Promise<void>[] = [];
    const failures: unknown[] = [];
    using stop = new LinkedController(signal);
    this.#start = (reflector) => {
      const end = reflector.run(stop.signal).catch((error: unknown) => {
        failures.push(error);
        stop.abort(error);
      });
      ends.push(end);
    };
    for (const reflector of this.#reflectors) this.#start(reflector);
    await aborted(stop.signal);
    this.#state = "stopping";
    this.#start = undefined;
    await Promise.all(ends);
    await this.#options.target.transport.closeIdle?.();
    if (failures.length > 0) throw failures[0];
  }

  #createInformer(resolved: ResolvedWatch): CachedInformer {
    const { resource, namespaces = [undefined], labels, fields, transform } = resolved;
    const shape = shapeOf({ resource, transform });
    const reflectors = namespaces.map((namespace) => {
      const scope = new Scope({ namespace, labels, fields });
      const store: Store = new Store(shape, scope, (...rejection) =>
        reflector.reject(...rejection),
      );
      const listWatch = { resource, namespace, labels, fields };
      const reflector = new Reflector(listWatch, store, this.#settings);
      return reflector;
    });
    return new CachedInformer(resource, reflectors, this.#progress, (stopped) => {
      const index = this.#registrations.findIndex(({ informer }) => informer === stopped);
      if (index >= 0) this.#registrations.splice(index, 1);
    });
  }

  /** Takes a write of the client into the informers of its resource. It must not throw: the write is done. */
  #follow(write: ClientWrite): void {
    const { apiVersion, plural } = write.resource;
    for (const reflector of this.#reflectors) {
      const { resource } = reflector.listWatch;
      if (resource.apiVersion !== apiVersion || resource.plural !== plural) continue;
      try {
        const own = ownWriteOf(write);
        if (own !== undefined) reflector.write(own);
      } catch (err) {
        const details = { resource: plural, err };
        this.#settings.hooks.log(
          "error",
          details,
          "own write not cached; the watch will deliver it",
        );
      }
    }
  }
}
