import { acceptFor } from "../object/metadata-of.ts";
import type { Resource } from "../object/resource.ts";
import { collectionPath } from "../object/resource-path.ts";
import { formatFields, formatLabels } from "../object/selector.ts";
import type { ApiRequest } from "./api-request.ts";
import type { KubeListOptions } from "./call-options.ts";

/** The objects of a list or a watch. */
export interface Collection extends Pick<KubeListOptions, "namespace" | "labels" | "fields"> {
  readonly resource: Resource;
}

/** The request for a collection. */
export interface CollectionRequest extends ApiRequest {
  readonly query: NonNullable<ApiRequest["query"]>;
}

/**
 * The request for a list or a watch, or, with another method, for all its objects.
 *
 * @throws RangeError or TypeError for a bad namespace or selector
 */
export function collectionRequest(
  { resource, namespace, labels = {}, fields = {} }: Collection,
  verb: "list" | "watch",
  query: NonNullable<ApiRequest["query"]> = {},
): CollectionRequest {
  return {
    method: "GET",
    path: collectionPath(resource, namespace),
    query: {
      ...query,
      labelSelector: formatLabels(labels) || undefined,
      fieldSelector: formatFields(fields) || undefined,
    },
    accept: acceptFor(resource, verb === "list" ? "list" : "object"),
  };
}
