import { badRequest, Failure } from "../failure.ts";
import { isObject, type JsonObject, own, propertiesOf } from "../json.ts";
import type { ApiCall } from "../request/api-call.ts";
import type { ServedResource } from "../served-resource.ts";
import type { Shaped } from "../validation/schema.ts";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/;
const BASE64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A field that does not have the form of its type in Go. */
class DecodeError extends Error {}

/** A place in a submitted object, and the unknown fields so far. */
interface Place {
  /** Path of the field, as in `spec.ports[0]`. Empty for the object. */
  readonly path: string;

  /** Collects the fields that are dropped. Undefined: unknown fields stay. */
  readonly unknown: string[] | undefined;
}

/** Checks the value of a field, and returns it as it is stored. Undefined: it is left out. */
type Decoder = (value: unknown, place: Place) => unknown;

function mismatch(value: unknown, { path }: Place, type: string): DecodeError {
  const kind = Array.isArray(value) ? "array" : typeof value;
  const given = kind === "number" && type !== "string" ? `number ${value}` : kind;
  return new DecodeError(
    `json: cannot unmarshal ${given} into Go struct field ${path} of type ${type}`,
  );
}

/** A field that is left out when it is empty; `optional` keeps empty values. */
function scalar(type: "string" | "bool" | "int32", isRight: (value: unknown) => boolean): Decoder {
  return (value, place) => {
    if (isRight(value)) return value;
    throw mismatch(value, place, type);
  };
}

const isText = scalar("string", (value) => typeof value === "string");
const isBoolean = scalar("bool", (value) => typeof value === "boolean");
const isInt32 = scalar(
  "int32",
  (value) => Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31,
);

/** Any value. */
const isAny: Decoder = (value) => value;

/** A value that is left out when it is empty: a string, a number or a boolean that is no pointer in Go. */
function filled(decoder: Decoder): Decoder {
  return (value, place) => decoder(value, place) || emptyOf(value, place);
}

/** An empty value stays until the object is stored, because an apply of it owns its field. */
function emptyOf(value: unknown, { unknown }: Place): unknown {
  return unknown === undefined ? value : undefined;
}

const isBase64: Decoder = (value, { path }) => {
  if (typeof value === "string" && BASE64.test(value)) return value;
  throw new DecodeError(`${path}: illegal base64 data`);
};

/** metav1.MicroTime: six digits, no more and no fewer. Stored in UTC. */
const isMicroTime: Decoder = (value, { path }) => {
  if (typeof value === "string" && MICRO_TIME.test(value)) return inUtc(value);
  throw new DecodeError(
    `${path}: parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05.000000Z07:00": cannot parse`,
  );
};

const isTime: Decoder = (value, { path }) => {
  if (typeof value === "string" && TIME.test(value)) return value;
  throw new DecodeError(
    `${path}: parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse`,
  );
};

/**
 * A map. Null is the same as nothing, and an empty map is left out.
 *
 * @param nothing - what null within it is: in Go the empty text, or no bytes
 */
function mapOf(decoder: Decoder, nothing: "" | null): Decoder {
  return (value, place) => {
    if (!isObject(value)) throw mismatch(value, place, "map[string]string");
    const entries = Object.entries(value).map(([name, member]) => [
      name,
      member === null ? nothing : decoder(member, { ...place, path: `${place.path}.${name}` }),
    ]);
    return entries.length === 0 ? emptyOf(value, place) : Object.fromEntries(entries);
  };
}

/** A list. An empty one is left out. */
function listOf(decoder: Decoder): Decoder {
  return (value, place) => {
    if (!Array.isArray(value)) throw mismatch(value, place, "[]string");
    const items = value.map((item, index) =>
      decoder(item, { ...place, path: `${place.path}[${index}]` }),
    );
    return items.length === 0 ? emptyOf(value, place) : items;
  };
}

/** An object. Null is the same as nothing. */
function struct(known: Readonly<Record<string, Decoder>>, isOpen = false): Decoder {
  return (value, { path, unknown }) => {
    if (!isObject(value)) throw mismatch(value, { path, unknown }, "struct");
    const entries = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
      const below = { path: path === "" ? name : `${path}.${name}`, unknown };
      const decoder = Object.hasOwn(known, name) ? known[name] : undefined;
      if (decoder === undefined) {
        if (isOpen || unknown === undefined) return [[name, member]];
        unknown.push(below.path);
        return [];
      }
      if (member === null || member === undefined) return isOpen ? [[name, member]] : [];
      const decoded = decoder(member, below);
      return decoded === undefined ? [] : [[name, decoded]];
    });
    return Object.fromEntries(entries);
  };
}

const METADATA = {
  name: isText,
  generateName: isText,
  namespace: isText,
  selfLink: isText,
  uid: isText,
  resourceVersion: isText,
  generation: isAny,
  creationTimestamp: isTime,
  deletionTimestamp: isTime,
  deletionGracePeriodSeconds: isAny,
  labels: mapOf(isText, null),
  annotations: mapOf(isText, null),
  ownerReferences: isAny,
  finalizers: listOf(isText),
  managedFields: isAny,
};

const REFERENCE = struct({
  kind: filled(isText),
  namespace: filled(isText),
  name: filled(isText),
  uid: filled(isText),
  apiVersion: filled(isText),
  resourceVersion: filled(isText),
  fieldPath: filled(isText),
});

/** The fields of kinds that controllers write. The fields of other kinds are stored as they come. */
const KINDS: Readonly<Record<string, Readonly<Record<string, Decoder>>>> = {
  "v1 ConfigMap": {
    data: mapOf(isText, ""),
    binaryData: mapOf(isBase64, null),
    immutable: isBoolean,
  },
  "v1 Secret": {
    data: mapOf(isBase64, null),
    stringData: mapOf(isText, ""),
    type: filled(isText),
    immutable: isBoolean,
  },
  "v1 ServiceAccount": {
    secrets: listOf(REFERENCE),
    imagePullSecrets: listOf(struct({ name: filled(isText) })),
    automountServiceAccountToken: isBoolean,
  },
  "coordination.k8s.io/v1 Lease": {
    spec: struct({
      holderIdentity: isText,
      leaseDurationSeconds: isInt32,
      acquireTime: isMicroTime,
      renewTime: isMicroTime,
      leaseTransitions: isInt32,
      strategy: isText,
      preferredHolder: isText,
    }),
  },
  "events.k8s.io/v1 Event": {
    eventTime: isMicroTime,
    series: struct({ count: isInt32, lastObservedTime: isMicroTime }),
    reportingController: filled(isText),
    reportingInstance: filled(isText),
    action: filled(isText),
    reason: filled(isText),
    regarding: REFERENCE,
    related: REFERENCE,
    note: filled(isText),
    type: filled(isText),
    deprecatedSource: struct({ component: filled(isText), host: filled(isText) }),
    deprecatedFirstTimestamp: isTime,
    deprecatedLastTimestamp: isTime,
    deprecatedCount: filled(isInt32),
  },
};

/**
 * Reads a submitted object as the types of Go would. Unknown fields stay.
 *
 * @throws Failure for a field of another form: 400, and 422 after a patch
 */
export function decode(call: ApiCall, object: JsonObject): JsonObject {
  try {
    const { schema } = call.served;
    if (schema !== undefined) decodeEmbedded(schema, object, "");
    return typeOf(call.served)(object, { path: "", unknown: undefined }) as JsonObject;
  } catch (error) {
    if (error instanceof DecodeError) throw decodeFailure(call, error.message);
    throw error;
  }
}

/** Checks the types of objects within a custom object: those with `x-kubernetes-embedded-resource`. */
function decodeEmbedded(schema: JsonObject, value: unknown, path: string): void {
  if (Array.isArray(value)) {
    const items = own(schema, "items");
    if (isObject(items))
      for (const [index, item] of value.entries()) decodeEmbedded(items, item, `${path}[${index}]`);
    return;
  }
  if (!isObject(value)) return;
  if (own(schema, "x-kubernetes-embedded-resource") === true) decodeType(value, path);
  const properties = propertiesOf(schema);
  for (const [name, member] of Object.entries(value)) {
    const below = own(properties, name) ?? own(schema, "additionalProperties");
    if (isObject(below)) decodeEmbedded(below, member, path === "" ? name : `${path}.${name}`);
  }
}

function decodeType(object: JsonObject, path: string): void {
  for (const name of ["apiVersion", "kind"]) {
    const value = own(object, name);
    if (value !== undefined && value !== null && typeof value !== "string")
      throw new DecodeError(
        `${path}.${name}: Invalid value: ${JSON.stringify(value)}: must be a string`,
      );
  }
  const metadata = own(object, "metadata");
  if (metadata === undefined || metadata === null) return;
  try {
    struct(METADATA, true)(metadata, { path: "ObjectMeta", unknown: undefined });
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    // Go names the field, and not the entry of a map.
    const reason = error.message
      .replace(/ Go struct field ObjectMeta of type struct/, " Go value of type v1.ObjectMeta")
      .replace(/(ObjectMeta\.\w+)[.[]\S*/, "$1");
    throw new DecodeError(
      `${path}.metadata: Invalid value: ${JSON.stringify(metadata)}: ${reason}`,
    );
  }
}

/** A decoded object without the fields that its type does not have, and their paths in order. */
export function knownFields(served: ServedResource, object: JsonObject): Shaped {
  const unknown: string[] = [];
  return { value: typeOf(served)(object, { path: "", unknown }) as JsonObject, unknown };
}

function typeOf({ apiVersion, kind, isBuiltIn }: ServedResource): Decoder {
  const known = isBuiltIn ? KINDS[`${apiVersion} ${kind}`] : undefined;
  // Unknown fields of the metadata of a custom resource are found with those of its schema.
  const metadata = struct(METADATA, !isBuiltIn);
  return struct({ apiVersion: isText, kind: isText, metadata, ...known }, known === undefined);
}

/** The failure for a body that cannot be read. */
export function decodeFailure({ verb, served }: ApiCall, text: string): Failure {
  if (verb !== "patch")
    return badRequest(
      `${served.kind} in version ${JSON.stringify(served.version)} cannot be handled as a ${served.kind}: ${text}`,
    );
  const causes = [
    { reason: "FieldValueInvalid", message: `Invalid value: ${text}`, field: "patch" },
  ];
  const message = `${JSON.stringify("")} is invalid: patch: Invalid value: ${text}`;
  return new Failure(422, { reason: "Invalid", message, details: { causes } });
}

/** A time with six digits in UTC. */
function inUtc(time: string): string {
  if (time.endsWith("Z")) return time;
  const digits = time.slice(19, 26);
  const seconds = new Date(time.slice(0, 19) + time.slice(26)).toISOString().slice(0, 19);
  return `${seconds}${digits}Z`;
}
