import { requireOptions } from "@holdfast/kit";
import { requireNamespace, requireSegment } from "@holdfast/kit/kubernetes";
import type { DeepReadonly, KubeObject } from "./kube-object.ts";
import type { Resource } from "./resource.ts";

/** Name and namespace of an object. */
export interface ObjectName {
  /** Name. */
  readonly name: string;

  /** Namespace. Objects of cluster scope have none. */
  readonly namespace?: string | undefined;
}

/**
 * Which object of a resource: `"namespace/name"`, or `"name"` for objects of cluster scope, as in
 * `request.key`; or an object with both.
 */
export type ObjectRef = string | ObjectName;

/**
 * The key of an object in caches and queues: `"namespace/name"`, or `"name"` without a namespace.
 *
 * @param object - an object of Kubernetes
 * @returns the key
 * @throws TypeError if it has no name
 *
 * Source: `MetaNamespaceKeyFunc` of k8s.io/client-go/tools/cache.
 *
 * @example
 * ```ts
 * import { keyOf } from "@holdfast/kubernetes";
 *
 * console.log(keyOf({ metadata: { namespace: "default", name: "ann" } })); // => default/ann
 * ```
 */
export function keyOf(object: DeepReadonly<KubeObject>): string {
  requireOptions("object", object);
  const { name, namespace } = object.metadata ?? {};
  if (typeof name !== "string" || name === "")
    throw new TypeError("metadata.name of an object must be set, got none");
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

/**
 * Reads and checks a reference to an object of `resource`.
 *
 * @throws TypeError or RangeError for a name, or the lack of a namespace, that the resource does not allow
 */
export function parseRef(resource: Resource, ref: ObjectRef): ObjectName {
  const parsed = typeof ref === "string" ? fromKey(ref) : fromObject(ref);
  requireSegment("name", parsed.name);
  const { namespace } = parsed;
  if (resource.scope === "Cluster" && namespace !== undefined)
    throw new RangeError(
      `a ${resource.kind} is cluster-scoped: ref must be "name", got ${JSON.stringify(ref)}`,
    );
  if (resource.scope === "Namespaced") {
    if (namespace === undefined)
      throw new RangeError(
        `a ${resource.kind} is namespaced: ref must be "namespace/name", got ${JSON.stringify(ref)}`,
      );
    requireNamespace("namespace", namespace);
  }
  return parsed;
}

function fromKey(key: string): ObjectName {
  const slash = key.indexOf("/");
  if (slash < 0) return { name: key };
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

function fromObject(ref: ObjectName): ObjectName {
  requireOptions("ref", ref);
  const { name, namespace } = ref;
  return namespace === undefined || namespace === "" ? { name } : { name, namespace };
}
