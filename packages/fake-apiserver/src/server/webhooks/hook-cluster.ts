import { LinkedController } from "@holdfast/clock";
import { resourceName } from "@holdfast/kit/kubernetes";
import {
  Cluster,
  type ClusterOptions,
  type Informer,
  type KubeObject,
  type Resource,
  type WatchOptions,
  type Webhook,
  type WebhookContext,
} from "@holdfast/kubernetes";

/** An informer as a `setup` has declared it, and the one that it shows. */
interface Declared {
  readonly resource: Resource;
  readonly options: WatchOptions;
  shown: Informer;
}

/**
 * The cluster of webhooks. Its informers have the objects of the server as they are at each review: they list before it, and
 * are gone after it, so that a test ends without timers.
 */
export class HookCluster extends Cluster {
  readonly #options: ClusterOptions;
  readonly #isServed: (resource: Resource) => boolean;
  readonly #declared: Declared[] = [];

  constructor(options: ClusterOptions, isServed: (resource: Resource) => boolean) {
    super(options);
    this.#options = options;
    this.#isServed = isServed;
  }

  /** @throws RangeError for a resource that the server does not have */
  override watch<T extends KubeObject, U extends KubeObject = T>(
    resource: Resource<T, KubeObject>,
    options: WatchOptions<T, U> = {},
  ): Informer<U> {
    const shown = super.watch(resource, options);
    if (!this.#isServed(resource as never))
      throw new RangeError(
        `options.resources must have ${resourceName(resource)}: a webhook declares an informer of it`,
      );
    const declared = { resource, options, shown } as unknown as Declared;
    this.#declared.push(declared);
    return new Proxy(shown, {
      get: (_, name) => {
        const value: unknown = Reflect.get(declared.shown, name, declared.shown);
        return typeof value === "function" ? value.bind(declared.shown) : value;
      },
    });
  }

  /** Informers have synced when a review begins. */
  override async ready(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
  }

  /** Calls a review while the informers have the objects of the server. */
  async during<Result>(signal: AbortSignal, review: () => Promise<Result>): Promise<Result> {
    if (this.#declared.length === 0) return await review();
    const cluster = new Cluster(this.#options);
    const fresh = this.#declared.map(({ resource, options }) => cluster.watch(resource, options));
    using stop = new LinkedController(signal);
    const running = cluster.run(stop.signal);
    try {
      await cluster.ready(stop.signal);
      for (const [index, declared] of this.#declared.entries())
        declared.shown = fresh[index] as Informer;
      return await review();
    } finally {
      stop.abort();
      await running;
    }
  }
}

/** What a server hands to its webhooks. */
export interface HookContext extends WebhookContext {
  readonly cluster: HookCluster;
}

/** Calls the `setup` of a webhook, if it has one: a mistake in it shows before the first review. */
export function prepare(hook: Webhook, context: HookContext): void {
  (hook as { prepare?: (context: WebhookContext) => void }).prepare?.(context);
}
