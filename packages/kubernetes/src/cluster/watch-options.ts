import {
  flag,
  func,
  type Kinds,
  kind,
  parsed,
  read,
  requireArray,
  requireHooks,
  requireOptions,
} from "@holdfast/kit";
import { requireResource } from "@holdfast/kit/kubernetes";
import type { IndexFunction } from "../cache/object-index.ts";
import { withoutManagedFields } from "../cache/object-shape.ts";
import type { CachedObject, KubeObject, StoredObject } from "../object/kube-object.ts";
import { metadataOf } from "../object/metadata-of.ts";
import type { Resource } from "../object/resource.ts";
import { collectionPath } from "../object/resource-path.ts";
import {
  type FieldSelector,
  formatFields,
  formatLabels,
  type LabelSelector,
} from "../object/selector.ts";

export const WATCH_OPTIONS: Kinds<WatchOptions> = {
  namespaces: parsed("namespaces"),
  labels: parsed("labels"),
  fields: parsed("fields"),
  transform: func,
  indexes: kind("indexes", requireIndexes),
  metadataOnly: flag,
};

/** Options for `Cluster.watch`. */
export interface WatchOptions<T extends KubeObject = KubeObject, U extends KubeObject = T> {
  /**
   * Namespaces to watch, each with a list and a watch of its own. At least one.
   *
   * @defaultValue all namespaces
   */
  readonly namespaces?: readonly string[] | undefined;

  /**
   * Selects objects by their labels. The server does it.
   *
   * @defaultValue every object
   */
  readonly labels?: LabelSelector | undefined;

  /**
   * Selects objects by fields. The server does it. Fields other than `metadata.name` and
   * `metadata.namespace` delay own writes until the watch shows them.
   *
   * @defaultValue every object
   */
  readonly fields?: FieldSelector | undefined;

  /**
   * Changes each object before it is cached: removes unused fields, for example. It may change its argument, and
   * must keep name, namespace, UID and version. If it throws, the object is not cached, or keeps
   * its last state, until it changes; `rejected` of the status counts it.
   *
   * @defaultValue removes `metadata.managedFields`
   */
  readonly transform?: ((object: StoredObject<T>) => U) | undefined;

  /**
   * Indexes by name: each returns the values under which `Informer.by` finds an object. Write them after `transform`.
   *
   * @defaultValue none
   */
  readonly indexes?:
    | { readonly [name: string]: (object: CachedObject<U>) => readonly string[] }
    | undefined;

  /**
   * Whether to ask the server for metadata alone, for example of Secrets: as with `metadataOf(resource)`, whose type says
   * so.
   *
   * @defaultValue `false`
   */
  readonly metadataOnly?: boolean | undefined;
}

/** The options with their defaults. */
export interface ResolvedWatch {
  /** Undefined for all. In alphabetical order, each once. */
  readonly namespaces: readonly string[] | undefined;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  readonly transform: (object: StoredObject<KubeObject>) => KubeObject;
  readonly indexes: Readonly<Record<string, IndexFunction>>;
  /** Of metadata alone, if that was asked for. */
  readonly resource: Resource;
  /** Equal for two lists and watches that differ in `transform` at most. */
  readonly identity: string;
}

/** @throws RangeError or TypeError that names the option */
export function resolveWatch(resource: Resource, options: WatchOptions): ResolvedWatch {
  requireResource(resource);
  const given = read("options", options, "watch", WATCH_OPTIONS);
  const { labels = {}, fields = {}, indexes = {}, metadataOnly = false } = given;
  const { transform = withoutManagedFields } = given;
  const namespaces = resolveNamespaces(resource, given.namespaces);
  const { apiVersion, plural, metadataOnly: isPartial = false } = resource;
  const selectors = [formatLabels(labels), formatFields(fields)];
  return {
    namespaces,
    transform,
    resource: metadataOnly ? metadataOf(resource) : resource,
    labels: structuredClone(labels),
    fields: structuredClone(fields),
    indexes: { ...indexes },
    identity: JSON.stringify([
      apiVersion,
      plural,
      namespaces,
      ...selectors,
      metadataOnly || isPartial,
    ]),
  };
}

function requireIndexes(path: string, indexes: Readonly<Record<string, unknown>>): void {
  requireOptions(path, indexes);
  requireHooks(path, indexes);
}

function resolveNamespaces(
  resource: Resource,
  namespaces: readonly string[] | undefined,
): readonly string[] | undefined {
  if (namespaces === undefined) return undefined;
  requireArray("options.namespaces", namespaces);
  if (namespaces.length === 0)
    throw new RangeError("options.namespaces must have at least one namespace, got an empty array");
  for (const namespace of namespaces) collectionPath(resource, namespace);
  return [...new Set(namespaces)].sort();
}
