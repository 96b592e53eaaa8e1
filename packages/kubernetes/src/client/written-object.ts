import { requireText, show } from "@holdfast/kit";
import type { DeepReadonly, KubeObject } from "../object/kube-object.ts";
import { METADATA_KIND } from "../object/metadata-of.ts";
import type { ObjectName } from "../object/object-ref.ts";
import type { Resource } from "../object/resource.ts";
import { ApiError } from "./api-error.ts";

type AnyObject = DeepReadonly<KubeObject>;

/** Longest kind of a response in a message. */
const MAX_KIND = 63;

/** Whether a path has objects of the resource. Other subresources have a kind of their own, or may have. */
export function isOwnKind(subresource: string | undefined): boolean {
  return subresource === undefined || subresource === "status";
}

/**
 * An object with the API version and the kind of its resource, as it is sent. A body of another subresource than the
 * status is sent as given.
 *
 * @throws RangeError if it is of another kind
 */
export function bodyOf(resource: Resource, object: AnyObject, subresource?: string): AnyObject {
  if (!isOwnKind(subresource)) return object;
  const { apiVersion, kind } = resource;
  const isOther =
    (object.kind ?? kind) !== kind || (object.apiVersion ?? apiVersion) !== apiVersion;
  if (isOther)
    throw new RangeError(
      `object must be a ${kind} of ${apiVersion}, got ${show(object.kind)} of ${show(object.apiVersion)}`,
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
 * The response of the server with API version and kind: items of lists of built-in resources come without, and metadata
 * alone comes with a kind of its own.
 */
export function completed<Body>(resource: Resource, response: object): Body {
  const object = response as { apiVersion?: string; kind?: string; metadata?: unknown };
  const { apiVersion, kind, metadataOnly } = resource;
  if (metadataOnly === true) return { apiVersion, kind, metadata: object.metadata } as Body;
  object.apiVersion ??= apiVersion;
  object.kind ??= kind;
  return object as Body;
}

/** A request for an object, for its check and its error. */
export interface ObjectRequest {
  readonly method: string;
  readonly path: string;
  readonly subresource: string | undefined;
  /** Whether the request was for an object without a name, which the server answers and does not store. */
  readonly isNameless?: boolean | undefined;
  /** Description of the transport. */
  readonly server: string;
}

/**
 * The object that the server responded with, for a request that asks for one. A subresource may be answered with a
 * `Status` of success, as an eviction is.
 *
 * @throws ApiError for a response without a name, another `Status`, a list, or an object of another kind
 */
export function storedOf<Body>(resource: Resource, response: object, request: ObjectRequest): Body {
  const { method, path, subresource, server } = request;
  if (isObjectOf(resource, response, request))
    return isOwnKind(subresource) ? completed(resource, response) : (response as Body);
  const { kind } = response as { kind?: unknown };
  const isNamed = typeof kind === "string" && kind !== resource.kind;
  const found = isNamed ? ` but a ${kind.slice(0, MAX_KIND)}` : `: is ${server} an API server?`;
  const message = `the response is not a ${resource.kind}${found}`;
  throw new ApiError({ status: 200, reason: "", message, details: {}, method, path });
}

/** The kind of a response. That of metadata alone is the one of the resource, if it was asked for. */
function wholeKind({ metadataOnly, kind }: Resource, found: unknown): unknown {
  return metadataOnly === true && found === METADATA_KIND ? kind : found;
}

function isObjectOf(
  resource: Resource,
  response: object,
  { subresource, isNameless = false }: ObjectRequest,
): boolean {
  if (Array.isArray(response)) return false;
  const { kind: found, status, metadata } = response as ResponseParts;
  const kind = wholeKind(resource, found);
  if (isNameless) return kind === resource.kind;
  if (kind === undefined || kind === resource.kind)
    return typeof metadata?.name === "string" && metadata.name !== "";
  // Another subresource than the status may have a kind of its own, and need not have a name.
  if (isOwnKind(subresource)) return false;
  return kind === "Status" ? status === "Success" : kind !== `${resource.kind}List`;
}

interface ResponseParts {
  readonly kind?: unknown;
  readonly status?: unknown;
  readonly metadata?: { readonly name?: unknown } | null;
}
