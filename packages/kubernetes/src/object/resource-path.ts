import { requireNamespace, requireSegment } from "@holdfast/kit/kubernetes";
import { type ObjectRef, parseRef } from "./object-ref.ts";
import type { Resource } from "./resource.ts";

/** Path of the list of resources of an API version. */
export function discoveryPath({ group, apiVersion }: Resource): string {
  return group === "" ? `/api/${apiVersion}` : `/apis/${apiVersion}`;
}

/**
 * Path of all objects of a resource: of one namespace, or of the whole cluster.
 *
 * @throws RangeError for a namespace that is none, or that a resource of cluster scope does not have
 */
export function collectionPath(resource: Resource, namespace?: string): string {
  const { plural, scope } = resource;
  const root = discoveryPath(resource);
  if (namespace === undefined) return `${root}/${plural}`;
  if (scope === "Cluster")
    throw new RangeError(
      `namespace must be left out for a ${resource.kind}, which is cluster-scoped, got ${JSON.stringify(namespace)}`,
    );
  requireNamespace("namespace", namespace);
  return `${root}/namespaces/${namespace}/${plural}`;
}

/**
 * Path of one object, or of a subresource of it.
 *
 * @throws TypeError or RangeError for a name that is not a segment of a path
 */
export function objectPath(resource: Resource, ref: ObjectRef, subresource?: string): string {
  const { name, namespace } = parseRef(resource, ref);
  const path = `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`;
  if (subresource === undefined) return path;
  requireSegment("subresource", subresource);
  return `${path}/${encodeURIComponent(subresource)}`;
}
