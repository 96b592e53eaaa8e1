import { requireOptions, requireText } from "@holdfast/clock/internal";
import type { DeepReadonly, KubeObject } from "../object/kube-object.ts";
import type { ObjectName } from "../object/object-ref.ts";
import { type Resource, requireResource } from "../object/resource.ts";
import { ApiError } from "./api-error.ts";

type AnyObject = DeepReadonly<KubeObject>;

/** Longest kind of a response in a message. */
const MAX_KIND = 63;

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

/** A request for an object, for its check and its error. */
export interface ObjectRequest {
  readonly method: string;
  readonly path: string;
  readonly subresource: string | undefined;
  /** Description of the transport. */
  readonly server: string;
}

/**
 * The object that the server responded with, for a request that asks for one.
 *
 * @throws ApiError for a response without a name, a `Status`, a list, or an object of another kind
 */
export function storedOf<Body>(
  resource: Resource,
  response: object,
  { method, path, subresource, server }: ObjectRequest,
): Body {
  if (isObjectOf(resource, response, subresource)) return completed(resource, response);
  const { kind } = response as { kind?: unknown };
  const isNamed = typeof kind === "string" && kind !== resource.kind;
  const found = isNamed ? ` but a ${kind.slice(0, MAX_KIND)}` : `: is ${server} an API server?`;
  const message = `the response is not a ${resource.kind}${found}`;
  throw new ApiError({ statusCode: 200, reason: "", message, details: {}, method, path });
}

function isObjectOf(
  resource: Resource,
  response: object,
  subresource: string | undefined,
): boolean {
  if (Array.isArray(response)) return false;
  const { kind, metadata } = response as { kind?: unknown; metadata?: { name?: unknown } | null };
  if (kind === undefined || kind === resource.kind)
    return typeof metadata?.name === "string" && metadata.name !== "";
  // Another subresource than the status may have a kind of its own, and need not have a name.
  if (subresource === undefined || subresource === "status") return false;
  return kind !== "Status" && kind !== `${resource.kind}List`;
}
