import { requireWord } from "@holdfast/kit";
import type { KubeObject, StatusCondition } from "./kube-object.ts";

declare const objectType: unique symbol;
declare const whole: unique symbol;

/** Whether the objects of a resource belong to a namespace or to the cluster. */
export type ResourceScope = "Namespaced" | "Cluster";

/**
 * A kind of objects, and the path under which the server has them. Made by `customResource`,
 * `fromCrd` or `builtIn`.
 *
 * @typeParam T - the objects as the server stores them
 * @typeParam Written - the objects as users write them: fields with a default may be missing
 */
export interface Resource<T extends KubeObject = KubeObject, Written extends KubeObject = T> {
  /** API version, for example `apps/v1` or `v1`. */
  readonly apiVersion: string;

  /** API group, for example `apps`. Empty for the core group. */
  readonly group: string;

  /** Version within the group, for example `v1`. */
  readonly version: string;

  /** Kind, for example `Deployment`. */
  readonly kind: string;

  /** Name in paths, for example `deployments`. */
  readonly plural: string;

  /** Scope of the objects. */
  readonly scope: ResourceScope;

  /** The manifest that `fromCrd` was given, or that `customResource` made of schemas. */
  readonly crd?: object;

  /**
   * Converts an object of the kind to one of its versions. Resources of one version lack it.
   */
  readonly convert?: (object: object, version: string, onPruned?: (path: string) => void) => object;

  /** Whether its objects have their metadata alone; see `metadataOf`. */
  readonly metadataOnly?: boolean;

  /** Carries the types. Never set. */
  readonly [objectType]?: readonly [stored: T, written: Written];
}

/** A resource as calls that write take it: any but those of `metadataOf`. */
export type WritableResource<
  T extends KubeObject = KubeObject,
  Written extends KubeObject = T,
> = Resource<T, Written> & {
  /** Never set. */
  readonly [whole]?: undefined;
};

/** A resource of `metadataOf`. */
export interface MetadataResource extends Resource<KubeObject, never> {
  /** Never set. */
  readonly [whole]?: "metadataOf is for reading: pass the resource itself to calls that write";
}

/** Type of the objects of a resource: `CachedObject<ObjectOf<typeof CronTask>>` is that of a cache. */
export type ObjectOf<R extends Resource<KubeObject, KubeObject>> =
  R extends Resource<infer T, KubeObject> ? T : never;

/** An object of a custom resource. */
export interface CustomObject<Spec, Status = never> extends KubeObject {
  /** The state that users want. */
  spec: Spec;

  /** The state that is. Missing until an operator has written it. */
  status?: Status | undefined;
}

/** A status with conditions, if a resource declares them; beside an empty schema, or none, they are alone. */
export type ConditionedStatus<Status, Conditions extends boolean> = Conditions extends true
  ? ([Status] extends [Record<string, never>] ? unknown : Status) & {
      /** The conditions, one of each type. */
      conditions?: readonly StatusCondition[] | undefined;
    }
  : Status;

/** @throws RangeError for a scope that Kubernetes does not have */
export function requireScope(scope: unknown): asserts scope is ResourceScope {
  requireWord("scope", scope, "Namespaced", "Cluster");
}
