import { requireOptions, requireText } from "@holdfast/clock/internal";
import type { DeepReadonly, KubeObject } from "../object/kube-object.ts";
import type { ObjectName } from "../object/object-ref.ts";
import { type Resource, requireResource } from "../object/resource.ts";
import { ApiError } from "./api-error.ts";

type AnyObject = DeepReadonly<KubeObject>;

/**
 * An object with the API version and the kind of its resource, as it is sent.
 *
 * @throws TypeError or RangeError if it is not an object, or of another kind
 */
export function bodyOf(resource: Resource, object: AnyObject): AnyObject {
  requireResource(resource);
  requireOptions("object", object);
  const { apiVersion, kind } = resource;
  const isOther =
    (object.kind ?? kind) !== kind || (object.apiVersion ?? apiVersion) !== apiVersion;
  if (isOther)
    throw new RangeError(
      `object must be a ${kind} of ${apiVersion}, got ${JSON.stringify(object.kind)} of ${JSON.stringify(object.apiVersion)}`,
    );
  return { ...object, apiVersion, kind };
}

/** @throws TypeError or RangeError if the object has no name, or a namespace that is not text */
export function refOf(object: AnyObject): ObjectName {
  const { name, namespace } = object.metadata ?? {};
  requireText("object.metadata.name", name);
  return namespace === undefined ? { name: name as string } : { name: name as string, namespace };
}

/**
 * The response of the server with API version and kind: items of lists of built-in resources come without.
 * Subresources such as `scale` have a kind of their own, which stays.
 */
export function completed<Body>(resource: Resource, response: object): Body {
  const object = response as { apiVersion?: string; kind?: string };
  object.apiVersion ??= resource.apiVersion;
  object.kind ??= resource.kind;
  return object as Body;
}

/**
 * The object that the server responded with, for a request that asks for one.
 *
 * @throws ApiError for a response without a name, a `Status` or a list
 */
export function storedOf<Body>(
  resource: Resource,
  response: object,
  { method, path, server }: { method: string; path: string; server: string },
): Body {
  const { kind, metadata } = response as { kind?: unknown; metadata?: { name?: unknown } | null };
  const isOther = kind === "Status" || kind === `${resource.kind}List`;
  // A subresource has a kind of its own, and need not have a name.
  const isOwnKind = kind === undefined || kind === resource.kind;
  const hasName = typeof metadata?.name === "string" && metadata.name !== "";
  if (!isOther && !Array.isArray(response) && (hasName || !isOwnKind))
    return completed(resource, response);
  const found = isOther ? ` but a ${kind}` : `: is ${server} an API server?`;
  const message = `the response is not a ${resource.kind}${found}`;
  throw new ApiError({ statusCode: 200, reason: "", message, details: {}, method, path });
}
