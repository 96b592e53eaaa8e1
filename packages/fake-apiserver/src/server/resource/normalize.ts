import { applySchema, prune } from "../../crd-rules/validation/schema.ts";
import { isObject, type JsonObject, without } from "../../object/json.ts";
import { cleanMetadata } from "../../object/metadata.ts";
import { Failure } from "../failure.ts";
import { knownFields } from "./decode.ts";
import type { ServedResource } from "./served-resource.ts";

/** A submitted object as the server reads it, and the fields that it does not know. */
export interface Normalized {
  readonly object: JsonObject;

  /** Paths, as in `spec.unknown`. */
  readonly unknown: readonly string[];
}

/**
 * A submitted object as the server reads it: without unknown fields, with the defaults of its schema.
 *
 * @param isApplied - whether an apply has made it: its nulls stay until {@link withoutUnwantedNulls}
 */
export function normalize(
  served: ServedResource,
  submitted: JsonObject,
  isApplied = false,
): Normalized {
  const { apiVersion, kind, schema, isBuiltIn } = served;
  if (isBuiltIn) {
    const { value, unknown } = knownFields(served, submitted);
    const content = without(value, "apiVersion", "kind", "metadata");
    const metadata = cleanMetadata(value);
    return { object: { apiVersion, kind, metadata, ...builtInContent(kind, content) }, unknown };
  }
  const content = without(submitted, "apiVersion", "kind", "metadata");
  const { value, unknown } = applySchema(schema, content, isApplied);
  const known = knownFields(served, { metadata: submitted["metadata"] });
  return {
    object: { apiVersion, kind, metadata: cleanMetadata(known.value), ...value },
    unknown: [...unknown, ...known.unknown].sort(),
  };
}

/**
 * A stored object in the version that a resource serves: converted, or without the fields that the version does not have.
 * Its defaults do not come: a server fills in those of the stored version alone.
 *
 * @throws Failure if it does not convert
 */
export function asServed(served: ServedResource, object: JsonObject): JsonObject {
  const { apiVersion, schema, isBuiltIn } = served;
  if (isBuiltIn || object["apiVersion"] === apiVersion) return object;
  const { apiVersion: _, kind, metadata, ...content } = convertedTo(served, object, apiVersion);
  return { apiVersion, kind, metadata, ...prune(schema, content) };
}

/** @throws Failure for an object that is stored in a version which its resource no longer has */
export function requireVersion({ versions }: ServedResource, object: JsonObject): void {
  const stored = String(object["apiVersion"]);
  if (versions?.has(stored) !== false) return;
  const message = `request to convert CR from an invalid group/version: ${stored}`;
  throw new Failure(500, { message });
}

/**
 * An object as the stored version has it.
 *
 * @throws Failure if it does not convert
 */
export function asStored(served: ServedResource, object: JsonObject): JsonObject {
  const { storage } = served;
  if (storage === undefined) return object;
  const {
    apiVersion: _,
    kind,
    metadata,
    ...content
  } = convertedTo(served, object, storage.apiVersion);
  const { value } = applySchema(storage.schema, content);
  return { apiVersion: storage.apiVersion, kind, metadata, ...value };
}

/**
 * An object, or a part of one, in another API version; the same without a conversion.
 *
 * @throws Failure if it does not convert
 */
export function convertedTo(
  { convert }: ServedResource,
  object: JsonObject,
  apiVersion: string,
): JsonObject {
  const from = object["apiVersion"];
  // Nothing has no version.
  if (convert === undefined || from === undefined || from === apiVersion) return object;
  return convert(object, apiVersion.slice(apiVersion.indexOf("/") + 1));
}

/** An object as it is stored, after an apply: without the nulls of fields that have a schema and allow none. */
export function withoutUnwantedNulls(
  { schema, isBuiltIn }: ServedResource,
  object: JsonObject,
): JsonObject {
  if (isBuiltIn) return object;
  const { apiVersion, kind, metadata, ...content } = object;
  return { apiVersion, kind, metadata, ...applySchema(schema, content).value };
}

function builtInContent(kind: string, content: JsonObject): JsonObject {
  return kind === "Secret" ? secretContent(content) : content;
}

/** Effect of the conversion of a Secret. */
function secretContent({ stringData, data, type, ...rest }: JsonObject): JsonObject {
  const written = isObject(stringData) ? Object.entries(stringData) : [];
  const encoded = written.map(([name, text]) => [
    name,
    Buffer.from(String(text), "utf8").toString("base64"),
  ]);
  const all = { ...(isObject(data) && data), ...Object.fromEntries(encoded) };
  return { ...rest, ...(Object.keys(all).length > 0 && { data: all }), type: type ?? "Opaque" };
}
