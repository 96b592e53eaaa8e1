import type { Source } from "@holdfast/controller";
import { show } from "@holdfast/kit";
import { resourceName } from "@holdfast/kit/kubernetes";
import type { ObjectChange } from "../cache/change.ts";
import type { IndexFunction } from "../cache/object-index.ts";
import type { ObjectTable } from "../cache/object-table.ts";
import type { CachedObject } from "../object/kube-object.ts";
import { keyOf, type ObjectRef, parseRef } from "../object/object-ref.ts";
import type { Resource } from "../object/resource.ts";
import type { Progress } from "../reflect/progress.ts";
import type { Reflector } from "../reflect/reflector.ts";
import type { InformerStatus } from "./cluster-status.ts";
import type { Informer, InformerSourceOptions } from "./informer.ts";
import { changeSource, keySource } from "./informer-source.ts";

/** An informer on the stores of one or more reflectors, which keep disjoint objects. */
export class CachedInformer implements Informer {
  readonly resource: Resource;
  readonly reflectors: readonly Reflector[];
  readonly #tables: readonly ObjectTable[];
  readonly #indexes = new Map<string, IndexFunction>();
  readonly #progress: Progress;
  readonly #onStop: (informer: CachedInformer) => void;
  #isStopped = false;

  constructor(
    resource: Resource,
    reflectors: readonly Reflector[],
    progress: Progress,
    onStop: (informer: CachedInformer) => void,
  ) {
    this.#onStop = onStop;
    this.resource = resource;
    this.reflectors = reflectors;
    this.#progress = progress;
    this.#tables = reflectors.map(({ store }) => store.table);
  }

  get size(): number {
    return this.#tables.reduce((sum, { objects }) => sum + objects.size, 0);
  }

  get hasSynced(): boolean {
    return !this.#isStopped && this.reflectors.every(({ store }) => store.hasSynced);
  }

  get(ref: ObjectRef): CachedObject | undefined {
    const key = typeof ref === "string" ? ref : keyOf({ metadata: parseRef(this.resource, ref) });
    for (const table of this.#tables) {
      const object = table.get(key);
      if (object !== undefined) return object;
    }
    this.#requireSynced(parseRef(this.resource, ref).namespace);
    return undefined;
  }

  list(namespace?: string): CachedObject[] {
    this.#requireSynced(namespace);
    const objects = this.#tables.flatMap((table) => [...table.objects.values()]);
    return namespace === undefined
      ? objects
      : objects.filter(({ metadata }) => metadata.namespace === namespace);
  }

  by(index: string, value: string): CachedObject[] {
    if (!this.#indexes.has(index))
      throw new RangeError(
        `index must be one of the informer (${[...this.#indexes.keys()].join(", ") || "it has none"}), got ${show(index)}`,
      );
    this.#requireSynced(undefined);
    return this.#tables.flatMap((table) => table.by(index, value));
  }

  stop(): void {
    this.#isStopped = true;
    this.#onStop(this);
    for (const reflector of this.reflectors) reflector.stop();
  }

  source(options: InformerSourceOptions = {}): Source {
    return keySource(this.changes(), options);
  }

  changes(): Source<ObjectChange> {
    const ready = (signal: AbortSignal): Promise<void> =>
      this.#progress.until(() => this.hasSynced || this.#isStopped, signal);
    return changeSource(resourceName(this.resource), this.#tables, ready);
  }

  /** @throws RangeError if a name has another function already */
  addIndexes(indexes: Readonly<Record<string, IndexFunction>>): void {
    const added = Object.entries(indexes).filter(([name]) => !this.#indexes.has(name));
    for (const [name, valuesOf] of Object.entries(indexes))
      if ((this.#indexes.get(name) ?? valuesOf) !== valuesOf)
        throw new RangeError(
          `options.indexes["${name}"] must be the function that the informer already uses for this name, got another: share the function, or choose another name`,
        );
    for (const [name, valuesOf] of added) {
      for (const table of this.#tables) table.addIndex(name, valuesOf);
      this.#indexes.set(name, valuesOf);
    }
  }

  status(): InformerStatus {
    return {
      resource: resourceName(this.resource),
      hasSynced: this.hasSynced,
      size: this.size,
      reflectors: this.reflectors.map((reflector) => reflector.status()),
    };
  }

  /**
   * An object that is missing before the first list is complete may be there. Cluster-scoped objects have no namespace.
   *
   * @throws RangeError if the namespace is not watched, Error if its objects, or all if there is none, are not known yet
   */
  #requireSynced(namespace: string | undefined): void {
    if (this.#isStopped)
      throw new Error(
        `informer of ${resourceName(this.resource)} was stopped and has no objects; cluster.watch makes a new one`,
      );
    const asked = this.reflectors.filter(
      ({ listWatch }) =>
        namespace === undefined ||
        listWatch.namespace === undefined ||
        listWatch.namespace === namespace,
    );
    if (asked.length === 0) {
      const watched = this.reflectors.map(({ listWatch }) => listWatch.namespace);
      throw new RangeError(
        `namespace must be one that the informer watches (${watched.join(", ")}), got ${show(namespace)}`,
      );
    }
    const missing = asked.find(({ store }) => !store.hasSynced);
    if (missing === undefined) return;
    const { lastError } = missing.status();
    const reason = lastError === undefined ? "" : `: ${lastError.message}`;
    throw new Error(
      `informer of ${resourceName(this.resource)} has not synced, so an object that it lacks may exist; wait for its first list${reason}`,
    );
  }
}
