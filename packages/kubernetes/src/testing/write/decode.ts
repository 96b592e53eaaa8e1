import { badRequest, Failure } from "../failure.ts";
import { isObject, type JsonObject, own } from "../json.ts";
import type { ApiCall } from "../request/api-call.ts";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/;
const BASE64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A field that does not have the form of its type in Go. */
class DecodeError extends Error {}

/** Checks the value of a field, and returns it as it is stored. */
type Decoder = (value: unknown, field: string) => unknown;

const isText: Decoder = (value, field) => {
  if (typeof value === "string") return value;
  throw new DecodeError(`${field}: cannot unmarshal ${JSON.stringify(value)} into a string`);
};

const isBase64: Decoder = (value, field) => {
  if (typeof value === "string" && BASE64.test(value)) return value;
  throw new DecodeError(`${field}: illegal base64 data`);
};

/** metav1.MicroTime: six digits, no more and no fewer. Stored in UTC. */
const isMicroTime: Decoder = (value, field) => {
  if (typeof value === "string" && MICRO_TIME.test(value)) return inUtc(value);
  throw new DecodeError(
    `${field}: parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05.000000Z07:00": cannot parse`,
  );
};

const isTime: Decoder = (value, field) => {
  if (typeof value === "string" && TIME.test(value)) return value;
  throw new DecodeError(
    `${field}: parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse`,
  );
};

const isTexts = entriesOf(isText);
const isTextList: Decoder = (value, field) => {
  if (!Array.isArray(value)) throw new DecodeError(`${field}: cannot unmarshal into a list`);
  return value.map((item, index) => isText(item, `${field}[${index}]`));
};

const METADATA: Decoder = fields({
  name: isText,
  generateName: isText,
  namespace: isText,
  uid: isText,
  resourceVersion: isText,
  labels: isTexts,
  annotations: isTexts,
  finalizers: isTextList,
  creationTimestamp: isTime,
  deletionTimestamp: isTime,
});

/** Fields whose form the double knows, by API version and kind. */
const KINDS: Readonly<Record<string, Readonly<Record<string, Decoder>>>> = {
  "v1 ConfigMap": { data: isTexts, binaryData: entriesOf(isBase64) },
  "v1 Secret": { data: entriesOf(isBase64), stringData: isTexts },
  "coordination.k8s.io/v1 Lease": {
    spec: fields({ acquireTime: isMicroTime, renewTime: isMicroTime }),
  },
  "events.k8s.io/v1 Event": {
    eventTime: isMicroTime,
    series: fields({ lastObservedTime: isMicroTime }),
  },
};

/**
 * Reads a submitted object as the types of Go would.
 *
 * @throws Failure for a field of another form: 400, and 422 after a patch
 */
export function decode(call: ApiCall, object: JsonObject): JsonObject {
  const { apiVersion, kind, isBuiltIn } = call.served;
  const known = isBuiltIn ? KINDS[`${apiVersion} ${kind}`] : undefined;
  try {
    return fields({ ...known, metadata: METADATA })(object, kind) as JsonObject;
  } catch (error) {
    if (error instanceof DecodeError) throw decodeFailure(call, error.message);
    throw error;
  }
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

/** An object whose known fields have their form. Null is the same as nothing. */
function fields(known: Readonly<Record<string, Decoder>>): Decoder {
  return (value, field) => {
    if (!isObject(value)) throw new DecodeError(`${field}: cannot unmarshal into an object`);
    const entries = Object.entries(value).map(([name, member]) => {
      const check = Object.hasOwn(known, name) ? known[name] : undefined;
      const isChecked = check !== undefined && member !== null && member !== undefined;
      return [name, isChecked ? check(member, `${field}.${name}`) : member];
    });
    return Object.fromEntries(entries);
  };
}

/** A map whose values have one form. */
function entriesOf(check: Decoder): Decoder {
  return (value, field) => {
    if (!isObject(value)) throw new DecodeError(`${field}: cannot unmarshal into a map`);
    for (const name of Object.keys(value)) {
      const member = own(value, name);
      if (member !== null) check(member, `${field}.${name}`);
    }
    return value;
  };
}

/** A time with six digits in UTC. */
function inUtc(time: string): string {
  if (time.endsWith("Z")) return time;
  const digits = time.slice(19, 26);
  const seconds = new Date(time.slice(0, 19) + time.slice(26)).toISOString().slice(0, 19);
  return `${seconds}${digits}Z`;
}
