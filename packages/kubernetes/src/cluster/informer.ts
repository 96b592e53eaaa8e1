import type { Source } from "@holdfast/controller";
import type { ObjectChange } from "../cache/change.ts";
import type { CachedObject, KubeObject } from "../object/kube-object.ts";
import type { ObjectRef } from "../object/object-ref.ts";

/** Options for {@link Informer.source}. */
export interface InformerSourceOptions<T extends KubeObject = KubeObject> {
  /**
   * Whether a change wakes keys. An error it throws is reported, and counts as `true`.
   *
   * @defaultValue every change does
   */
  readonly when?: ((change: ObjectChange<T>) => boolean) | undefined;

  /**
   * Keys to wake for a change. An error it throws is reported; the change wakes no key then.
   *
   * @defaultValue the key of the object
   */
  readonly to?: ((change: ObjectChange<T>) => readonly string[]) | undefined;
}

/**
 * The objects of a resource that match a selector, in memory and up to date. Made by `Cluster.watch`.
 *
 * Objects are frozen and shared. A write of the cluster's own client is seen here before its call resolves;
 * writes of others when the server reports them.
 */
export interface Informer<T extends KubeObject = KubeObject> {
  /** Number of objects. */
  readonly size: number;

  /** Whether the first list is complete. */
  readonly hasSynced: boolean;

  /**
   * An object by its name.
   *
   * @param ref - for example `request.key`
   * @returns the object, or undefined if there is none
   * @throws RangeError for a name that the resource cannot have, or a namespace that is not watched; Error if the object is
   * not known before the first list is complete
   */
  get(ref: ObjectRef): CachedObject<T> | undefined;

  /**
   * All objects, or those of one namespace, in no particular order.
   *
   * @throws RangeError for a namespace that is not watched; Error before the first list is complete
   */
  list(namespace?: string): CachedObject<T>[];

  /**
   * The objects that an index has under a value, in no particular order.
   *
   * @throws RangeError if no index has this name; Error before the first list is complete
   */
  by(index: string, value: string): CachedObject<T>[];

  /**
   * A source of keys for a `Controller`.
   *
   * It is ready when the first list is complete: a controller starts no reconcile before. At its start it replays the
   * cached objects as changes with `isInitial`. These wake keys with priority -10,
   * so that live changes go first.
   *
   * @param options - see {@link InformerSourceOptions}
   * @throws TypeError if an option is not a function
   */
  source(options?: InformerSourceOptions<T>): Source;

  /**
   * Ends its lists and watches at once, for good, and forgets its objects. Readiness, `cluster.ready` and `status()` no
   * longer have it. It reports no deletions: its sources are silent from now on. Reads throw an Error. All callers of
   * `Cluster.watch` with the same list and watch share one informer, so stop one that you alone use; a later `watch` makes
   * a new one. A second call does nothing.
   */
  stop(): void;

  /** A source of changes, for `mapSource` and `filterSource`. It replays as {@link Informer.source} does. */
  changes(): Source<ObjectChange<T>>;
}
