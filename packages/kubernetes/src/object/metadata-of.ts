import { requireResource } from "@holdfast/kit/kubernetes";
import type { KubeObject } from "./kube-object.ts";
import type { MetadataResource, Resource } from "./resource.ts";

/** Kind of an object that has its metadata alone. */
export const METADATA_KIND = "PartialObjectMetadata";

/**
 * A resource whose objects have their metadata alone: labels, owners, finalizers, but neither spec nor status nor data. Pass
 * it to the calls that read, `client.get`, `find`, `list` and `watch`, and to `cluster.watch`. The server sends no more than
 * that, and memory holds no more.
 *
 * Its objects have the API version and the kind of the resource. Calls that write refuse it: pass the resource itself.
 *
 * @param resource - the resource
 * @throws TypeError if `resource` is not one
 *
 * @remarks
 * Source: `PartialObjectMetadata` of k8s.io/apimachinery/pkg/apis/meta/v1.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { builtIn, metadataOf } from "@holdfast/kubernetes";
 * import { FakeApi } from "@holdfast/fake-apiserver";
 *
 * const Secret = builtIn("v1", "Secret");
 * const { client } = new FakeApi({ clock: new FakeClock(), resources: [Secret] });
 * const metadata = { namespace: "default", name: "ann" };
 * await client.create(Secret, { metadata, data: { token: "" } } as never);
 * console.log(Object.keys(await client.get(metadataOf(Secret), "default/ann")));
 * // => [ 'apiVersion', 'kind', 'metadata' ]
 * ```
 */
export function metadataOf(resource: Resource<KubeObject, KubeObject>): MetadataResource {
  requireResource(resource);
  const { crd: _, ...names } = resource;
  return Object.freeze({
    ...(names as Omit<MetadataResource, "crd">),
    metadataOnly: true,
  });
}

/** @throws TypeError if `resource` is not one, or one of {@link metadataOf} */
export function requireWritable(resource: Resource, door: string): void {
  requireResource(resource);
  if (resource.metadataOnly !== true) return;
  throw new TypeError(
    `resource must be the whole ${resource.kind} for ${door}, got metadataOf(${resource.kind}), which is for reading`,
  );
}

/** The accepted type of a response with objects of a resource. Undefined for whole objects. */
export function acceptFor(
  { metadataOnly }: Resource,
  response: "object" | "list",
): string | undefined {
  if (metadataOnly !== true) return undefined;
  const kind = response === "list" ? `${METADATA_KIND}List` : METADATA_KIND;
  // A server that cannot leave out the rest sends it, and it is dropped here.
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
}
