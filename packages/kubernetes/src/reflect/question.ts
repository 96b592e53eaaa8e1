import type { ApiRequest } from "../client/api-request.ts";
import type { Resource } from "../object/resource.ts";
import { collectionPath } from "../object/resource-path.ts";
import {
  type FieldSelector,
  formatFields,
  formatLabels,
  type LabelSelector,
} from "../object/selector.ts";

/** Which objects a reflector asks for. */
export interface Question {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  readonly metadataOnly: boolean;
}

const METADATA = "g=meta.k8s.io;v=v1,application/json";

/** The request for a list or a watch of the objects. */
export function requestFor(
  question: Question,
  verb: "list" | "watch",
  query: NonNullable<ApiRequest["query"]>,
): ApiRequest {
  const { resource, namespace, labels, fields, metadataOnly } = question;
  const kind = verb === "list" ? "PartialObjectMetadataList" : "PartialObjectMetadata";
  return {
    method: "GET",
    path: collectionPath(resource, namespace),
    query: {
      ...query,
      labelSelector: formatLabels(labels) || undefined,
      fieldSelector: formatFields(fields) || undefined,
    },
    accept: metadataOnly ? `application/json;as=${kind};${METADATA}` : undefined,
  };
}

/** Name of a resource in metrics, logs and sources: its plural, with its group if it has one. */
export function resourceName({ plural, group }: Resource): string {
  return group === "" ? plural : `${plural}.${group}`;
}
