import { embeddedObjects, type Shaped } from "../../crd-rules/validation/schema.ts";
import { wrong } from "../../object/cause.ts";
import { goJson, isObject, type JsonObject, own } from "../../object/json.ts";
import { badRequest, Failure } from "../failure.ts";
import type { ServedResource } from "./served-resource.ts";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/;
const BASE64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The part of a call that matters to the reading of its body. */
interface DecodedCall {
  readonly verb: string;
  readonly served: ServedResource;
}

/** A field that does not have the form of its type in Go. */
class DecodeError extends Error {}

/** A place in a submitted object, and the unknown fields so far. */
interface Place {
  /** Path of the field, as in `spec.ports[0]`. Empty for the object. */
  readonly path: string;

  /** Name of the type in Go that has the field. Undefined for an object that no field holds. */
  readonly owner?: string | undefined;

  /** Path of the field as errors of Go name it: without the keys of maps and the indexes of lists. */
  readonly field: string;

  /** Collects the fields that are dropped. Undefined: unknown fields stay. */
  readonly unknown: string[] | undefined;
}

/** Checks the value of a field, and returns it as it is stored. Undefined: it is left out. */
type Decoder = (value: unknown, place: Place) => unknown;

/** The object, or the metadata of a custom object, which the server reads by itself. */
const ROOT: Place = { path: "", field: "", unknown: undefined };

function mismatch(value: unknown, { owner, field }: Place, type: string): DecodeError {
  const number = typeof value === "number" && type.startsWith("int") ? `number ${value}` : "number";
  const kinds = { object: "object", string: "string", boolean: "bool", number } as const;
  const given = Array.isArray(value) ? "array" : kinds[typeof value as keyof typeof kinds];
  const target = owner === undefined ? "value" : `struct field ${owner}.${field}`;
  return new DecodeError(`json: cannot unmarshal ${given} into Go ${target} of type ${type}`);
}

function scalar(
  type: "string" | "bool" | "int32" | "int64",
  isRight: (value: unknown) => boolean,
): Decoder {
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

const isInt64 = scalar("int64", Number.isInteger);

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

const isBase64: Decoder = (value, place) => {
  if (typeof value !== "string") throw mismatch(value, place, "[]uint8");
  if (BASE64.test(value)) return value;
  const good = (/^[A-Za-z0-9+/]*/.exec(value) as RegExpExecArray)[0].length;
  const at = good === value.length ? good - (good % 4) : good;
  throw new DecodeError(`illegal base64 data at input byte ${at}`);
};

/** metav1.MicroTime: six digits, no more and no fewer. Stored in UTC. */
const isMicroTime: Decoder = (value, { path }) => {
  if (typeof value === "string" && MICRO_TIME.test(value)) return inUtc(value);
  throw new DecodeError(
    `${path}: parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05.000000Z07:00": cannot parse`,
  );
};

const isTime: Decoder = (value) => {
  if (typeof value !== "string") throw mismatch(value, ROOT, "string");
  if (TIME.test(value)) return value;
  const rest = /^\d{4}/.test(value) ? "" : ` ${JSON.stringify(value)} as "2006"`;
  throw new DecodeError(
    `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse${rest}`,
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

/**
 * A list. An empty one is left out.
 *
 * @param type - of the items in Go
 */
function listOf(decoder: Decoder, type = "string"): Decoder {
  return (value, place) => {
    if (!Array.isArray(value)) throw mismatch(value, place, `[]${type}`);
    const nothing = type === "string" ? "" : {};
    const items = value.map((item, index) =>
      decoder(item ?? nothing, { ...place, path: `${place.path}[${index}]` }),
    );
    return items.length === 0 ? emptyOf(value, place) : items;
  };
}

/** An object of a type in Go. Null is the same as nothing. */
function struct(
  type: string,
  known: Readonly<Record<string, Decoder>>,
  { isOpen = false } = {},
): Decoder {
  return (value, place) => {
    const { path, field, unknown } = place;
    if (!isObject(value)) throw mismatch(value, place, type);
    const owner = type.slice(type.indexOf(".") + 1);
    const entries = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
      const at = (before: string): string => (before === "" ? name : `${before}.${name}`);
      const below = { path: at(path), owner, field: at(field), unknown };
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

const OWNER = struct("v1.OwnerReference", {
  apiVersion: isText,
  kind: isText,
  name: isText,
  uid: isText,
  controller: isBoolean,
  blockOwnerDeletion: isBoolean,
});

const MANAGER = struct("v1.ManagedFieldsEntry", {
  manager: isText,
  operation: isText,
  apiVersion: isText,
  time: isTime,
  fieldsType: isText,
  fieldsV1: isAny,
  subresource: isText,
});

const METADATA = {
  name: isText,
  generateName: isText,
  namespace: isText,
  selfLink: isText,
  uid: isText,
  resourceVersion: isText,
  generation: isInt64,
  creationTimestamp: isTime,
  deletionTimestamp: isTime,
  deletionGracePeriodSeconds: isInt64,
  labels: mapOf(isText, ""),
  annotations: mapOf(isText, ""),
  ownerReferences: listOf(OWNER, "v1.OwnerReference"),
  finalizers: listOf(isText),
  managedFields: listOf(MANAGER, "v1.ManagedFieldsEntry"),
};

const REFERENCE = struct("v1.ObjectReference", {
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
    secrets: listOf(REFERENCE, "v1.ObjectReference"),
    imagePullSecrets: listOf(
      struct("v1.LocalObjectReference", { name: filled(isText) }),
      "v1.LocalObjectReference",
    ),
    automountServiceAccountToken: isBoolean,
  },
  "coordination.k8s.io/v1 Lease": {
    spec: struct("v1.LeaseSpec", {
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
    series: struct("v1.EventSeries", { count: isInt32, lastObservedTime: isMicroTime }),
    reportingController: filled(isText),
    reportingInstance: filled(isText),
    action: filled(isText),
    reason: filled(isText),
    regarding: REFERENCE,
    related: REFERENCE,
    note: filled(isText),
    type: filled(isText),
    deprecatedSource: struct("v1.EventSource", { component: filled(isText), host: filled(isText) }),
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
export function decode(call: DecodedCall, object: JsonObject): JsonObject {
  try {
    const { schema } = call.served;
    for (const [embedded, path] of embeddedObjects(schema ?? {}, object))
      decodeType(embedded, path);
    return typeOf(call.served)(object, ROOT) as JsonObject;
  } catch (error) {
    if (error instanceof DecodeError) throw decodeFailure(call, error.message, object);
    throw error;
  }
}

/** Checks the types of an object within a custom object: of one with `x-kubernetes-embedded-resource`. */
function decodeType(object: JsonObject, path: string): void {
  for (const name of ["apiVersion", "kind"]) {
    const value = own(object, name);
    if (value !== undefined && value !== null && typeof value !== "string")
      throw new DecodeError(`${path}.${name}: Invalid value: ${goJson(value)}: must be a string`);
  }
  const metadata = own(object, "metadata");
  if (metadata === undefined || metadata === null) return;
  try {
    struct("v1.ObjectMeta", METADATA)(metadata, ROOT);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new DecodeError(`${path}.metadata: Invalid value: ${goJson(metadata)}: ${error.message}`);
  }
}

/** A decoded object without the fields that its type does not have, and their paths in order. */
export function knownFields(served: ServedResource, object: JsonObject): Shaped {
  const unknown: string[] = [];
  const value = typeOf(served)(object, { ...ROOT, unknown }) as JsonObject;
  return {
    value: kindOf(served) === undefined ? (withoutNulls(value) as JsonObject) : value,
    unknown,
  };
}

/** For a field of a Go struct, null is the same as nothing. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(entries.map(([name, member]) => [name, withoutNulls(member)]));
}

/** The fields of a built-in kind. Undefined: they are not known. */
function kindOf({
  apiVersion,
  kind,
  isBuiltIn,
}: ServedResource): (typeof KINDS)[string] | undefined {
  return isBuiltIn ? KINDS[`${apiVersion} ${kind}`] : undefined;
}

function typeOf(served: ServedResource): Decoder {
  const { kind, isBuiltIn } = served;
  const known = kindOf(served);
  const type = struct("v1.ObjectMeta", METADATA);
  const metadata: Decoder = (value, place) =>
    type(value, isBuiltIn ? place : { ...place, owner: undefined, field: "" });
  const fields = { apiVersion: isText, kind: isText, metadata, ...known };
  return struct(kind, fields, { isOpen: known === undefined });
}

/**
 * The failure for a body that cannot be read.
 *
 * @param patched - the object after a patch
 */
export function decodeFailure(
  { verb, served }: DecodedCall,
  text: string,
  patched: JsonObject,
): Failure {
  if (verb !== "patch")
    return badRequest(
      `${served.kind} in version ${JSON.stringify(served.version)} cannot be handled as a ${served.kind}: ${text}`,
    );
  const cause = wrong("patch", JSON.stringify(patched), text);
  const message = ` ${JSON.stringify("")} is invalid: patch: ${cause.message}`;
  return new Failure(422, { reason: "Invalid", message, details: { causes: [cause] } });
}

/** A time with six digits in UTC. */
function inUtc(time: string): string {
  if (time.endsWith("Z")) return time;
  const digits = time.slice(19, 26);
  const seconds = new Date(time.slice(0, 19) + time.slice(26)).toISOString().slice(0, 19);
  return `${seconds}${digits}Z`;
}
