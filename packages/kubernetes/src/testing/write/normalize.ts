import { isObject, type JsonObject, without } from "../json.ts";
import type { ServedResource } from "../served-resource.ts";
import { applySchema } from "../validation/schema.ts";
import { knownFields } from "./decode.ts";
import { cleanMetadata, unknownMetadata } from "./metadata.ts";

/** A submitted object as the server reads it, and the fields that it does not know. */
export interface Normalized {
  readonly object: JsonObject;

  /** Paths, as in `spec.unknown`. */
  readonly unknown: readonly string[];
}

/** A submitted object as the server reads it: without unknown fields, with the defaults of its schema. */
export function normalize(served: ServedResource, submitted: JsonObject): Normalized {
  const { apiVersion, kind, schema, isBuiltIn } = served;
  if (isBuiltIn) {
    const { value, unknown } = knownFields(served, submitted);
    const content = without(value, "apiVersion", "kind", "metadata");
    const metadata = cleanMetadata(value);
    return { object: { apiVersion, kind, metadata, ...builtInContent(kind, content) }, unknown };
  }
  const content = without(submitted, "apiVersion", "kind", "metadata");
  const { value, unknown } = applySchema(schema, content);
  return {
    object: { apiVersion, kind, metadata: cleanMetadata(submitted), ...value },
    unknown: [...unknown, ...unknownMetadata(submitted)].sort(),
  };
}

function builtInContent(kind: string, given: JsonObject): JsonObject {
  const content = withoutNulls(given) as JsonObject;
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

/** For a field of a Go struct, null is the same as nothing. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(entries.map(([name, member]) => [name, withoutNulls(member)]));
}
