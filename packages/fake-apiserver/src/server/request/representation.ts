import { type JsonObject, metadataOf, without } from "../../object/json.ts";
import { badRequest, notAcceptable } from "../failure.ts";
import type { ServedResource } from "../resource/served-resource.ts";
import { type RowObject, tableOf } from "../resource/table.ts";
import type { ApiCall } from "./api-call.ts";

/** How objects are written into a response. */
export interface Representation {
  /** A single object. */
  readonly object: (object: JsonObject) => JsonObject;

  /** A list. */
  readonly list: (objects: readonly JsonObject[], metadata: JsonObject) => JsonObject;
}

/**
 * The first type of the `Accept` header that the server has: whole objects, metadata alone, or a table.
 *
 * @param now - time of the server, in milliseconds since the epoch
 * @throws Failure if it has none of them
 */
export function representationOf(
  { headers, query, served }: ApiCall,
  now: () => number,
  isList: boolean,
): Representation {
  for (const type of (headers["accept"] || "*/*").split(",")) {
    const [name = "", ...parameters] = type.split(";").map((part) => part.trim());
    const form =
      JSON_TYPES.has(name) || name === YAML ? formOf(parameters, served, isList) : undefined;
    if (form === undefined) continue;
    return typeof form === "string" ? table(served, { apiVersion: form, query, now }) : form;
  }
  throw notAcceptable();
}

function formOf(
  parameters: readonly string[],
  served: ServedResource,
  isList: boolean,
): Representation | `meta.k8s.io/${string}` | undefined {
  const as = parameters.find((parameter) => parameter.startsWith("as="))?.slice(3);
  if (as === undefined) return whole(served);
  if (as === (isList ? "PartialObjectMetadataList" : "PartialObjectMetadata")) return METADATA;
  const version = parameters.find((parameter) => parameter.startsWith("v="))?.slice(2);
  return as === "Table" && version !== undefined && TABLE_VERSIONS.has(version)
    ? `meta.k8s.io/${version}`
    : undefined;
}

const TABLE_VERSIONS: ReadonlySet<string> = new Set(["v1", "v1beta1"]);
const JSON_TYPES: ReadonlySet<string> = new Set(["application/json", "application/*", "*/*"]);
const YAML = "application/yaml";

/** The media type of a response in JSON. A client that asks for YAML gets the same text, because JSON is YAML. */
export function mediaTypeOf(accept: string | undefined): string {
  for (const type of (accept || "*/*").split(",")) {
    const [name = ""] = type.split(";").map((part) => part.trim());
    if (name === YAML) return YAML;
    if (JSON_TYPES.has(name)) break;
  }
  return "application/json";
}

const META = "meta.k8s.io/v1";

function metadataOnly(object: JsonObject): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion: META, metadata: object["metadata"] };
}

const METADATA: Representation = {
  object: metadataOnly,
  list: (objects, metadata) => ({
    kind: "PartialObjectMetadataList",
    apiVersion: META,
    metadata,
    items: objects.map(metadataOnly),
  }),
};

function whole({ apiVersion, kind, listKind, isBuiltIn }: ServedResource): Representation {
  const object = (one: JsonObject): JsonObject => ({ ...one, apiVersion, kind });
  // The items of a built-in type say neither version nor kind; the lists of others always have a token.
  const item = isBuiltIn ? (one: JsonObject) => without(one, "apiVersion", "kind") : object;
  const token = isBuiltIn ? {} : { continue: "" };
  return {
    object,
    list: (objects, metadata) => ({
      kind: listKind,
      apiVersion,
      metadata: { ...token, ...metadata },
      items: objects.map(item),
    }),
  };
}

interface TableRequest {
  readonly apiVersion: string;
  readonly query: URLSearchParams;
  readonly now: () => number;
}

function table(
  { columns }: ServedResource,
  { apiVersion, query, now }: TableRequest,
): Representation {
  const object = rowObjectOf(query);
  const list = (objects: readonly JsonObject[], metadata: JsonObject): JsonObject =>
    tableOf(objects, metadata, { columns, apiVersion, object, now: now() });
  return {
    object: (one) => list([one], { resourceVersion: metadataOf(one)["resourceVersion"] }),
    list,
  };
}

const ROW_OBJECTS: readonly string[] = ["Metadata", "Object", "None"] satisfies RowObject[];

function rowObjectOf(query: URLSearchParams): RowObject {
  const given = query.get("includeObject") || "Metadata";
  if (ROW_OBJECTS.includes(given)) return given as RowObject;
  const shown = JSON.stringify(given);
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${shown}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}
