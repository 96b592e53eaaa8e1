import { hasRules, ruleCauses } from "../../crd-rules/cel/rules.ts";
import { identityCauses, schemaCauses } from "../../crd-rules/validation/check-schema.ts";
import { embeddedObjects } from "../../crd-rules/validation/schema.ts";
import { type Cause, required, wrong } from "../../object/cause.ts";
import {
  isObject,
  type JsonObject,
  metadataOf,
  own,
  propertiesOf,
  stringsOf,
} from "../../object/json.ts";
import { embeddedCauses, keptCauses, metadataCauses } from "../../object/metadata-causes.ts";
import { Failure, invalid } from "../failure.ts";
import type { ApiCall } from "../request/api-call.ts";
import type { ServedResource } from "../resource/served-resource.ts";
import { scaleCauses } from "./scale-causes.ts";

/** A write whose object is checked. */
export interface CheckedWrite {
  /** The object before an update. */
  readonly old?: JsonObject | undefined;

  /** The object that an update has. Undefined: its metadata does not change. */
  readonly submitted?: JsonObject | undefined;

  /** A write to `status` is checked for nothing else. */
  readonly subresource?: string | undefined;
}

/** @throws Failure with a cause for every field that is wrong */
export function requireValid(
  served: ServedResource,
  object: JsonObject,
  write: CheckedWrite = {},
): void {
  const { old, submitted } = write;
  const causes = [
    ...(old && submitted ? changeCauses(served, old, submitted) : []),
    ...metadataCauses(served, object),
    ...(served.isBuiltIn ? kindCauses(object) : []),
    ...(served.schema === undefined ? [] : formCauses(served.schema, object, write)),
    ...(served.scale === undefined ? [] : scaleCauses(served.scale, object, write.subresource)),
  ];
  const all = [...causes, ...rulesAfter(causes, served.schema, object, old)];
  if (all.length > 0) throw invalidObject(served, submitted ?? object, all);
}

/** The most bytes of a request to etcd, less a kilobyte for what is beside the object. */
const MAX_OBJECT = 1_572_864 - 1_024;

/** A write whose body has no more bytes does not make an object too large. */
const SMALL_BODY = 10_000;

/** @throws Failure for an object that is too large for etcd */
export function requireStorable({ body = "" }: ApiCall, object: JsonObject): void {
  if (body.length <= SMALL_BODY || Buffer.byteLength(JSON.stringify(object)) <= MAX_OBJECT) return;
  throw new Failure(500, { message: "etcdserver: request is too large" });
}

function* formCauses(
  schema: JsonObject,
  object: JsonObject,
  { old, subresource }: CheckedWrite,
): Generator<Cause> {
  if (subresource === "status") {
    yield* statusCauses(schema, object, old);
    yield* identityCauses(schema, { status: object["status"] }, "", old);
    return;
  }
  yield* schemaCauses(schema, object, "", old);
  for (const [embedded, path] of embeddedObjects(schema, object))
    yield* embeddedCauses(embedded, path);
  yield* identityCauses(schema, object, "", old);
}

/** Violations of the rules of a schema, which see only values of the right form. */
function rulesAfter(
  causes: readonly Cause[],
  schema: JsonObject | undefined,
  object: JsonObject,
  old: JsonObject | undefined,
): Iterable<Cause> {
  if (schema === undefined) return [];
  if (!causes.some(({ reason }) => BLOCKING.has(reason))) return ruleCauses(schema, object, old);
  return hasRules(schema) ? [wrong("<nil>", null, NOT_CHECKED)] : [];
}

/** The server checks a status as an object of its own: messages name the path within it. */
function* statusCauses(
  schema: JsonObject,
  { status }: JsonObject,
  old: JsonObject | undefined,
): Generator<Cause> {
  const known = own(propertiesOf(schema), "status");
  if (!isObject(known) || status === undefined) return;
  // Nothing has become of nothing.
  if (status === null && old?.["status"] === undefined) return;
  for (const { field, ...cause } of schemaCauses(known, status, "", old?.["status"])) {
    yield { ...cause, field: field === "" || field === "<nil>" ? "status" : `status.${field}` };
  }
}

const BLOCKING: ReadonlySet<string> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

const NOT_CHECKED =
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

/** Changes that an update must not make. */
function changeCauses(served: ServedResource, old: JsonObject, submitted: JsonObject): Cause[] {
  const causes = [
    ...nameCauses(metadataOf(old), metadataOf(submitted)),
    ...updateCauses(metadataOf(old), metadataOf(submitted)),
    ...keptCauses(metadataOf(submitted), "metadata"),
  ];
  return repeated(served, causes);
}

/** The server checks the metadata of a custom resource twice in an update, and names each cause twice. */
function repeated({ isBuiltIn }: ServedResource, causes: Cause[]): Cause[] {
  return isBuiltIn ? causes : [...causes, ...causes];
}

/** A webhook may give an object another name. */
function nameCauses(was: JsonObject, { name }: JsonObject): Cause[] {
  return name === was["name"] ? [] : [wrong("metadata.name", name, "field is immutable")];
}

function* updateCauses(was: JsonObject, metadata: JsonObject): Generator<Cause> {
  const { deletionTimestamp, deletionGracePeriodSeconds: grace } = metadata;
  const isDeleted = was["deletionTimestamp"] !== undefined;
  if (deletionTimestamp && !isDeleted)
    yield wrong("metadata.deletionTimestamp", deletionTimestamp, "field is immutable");
  if (typeof grace === "number" && grace !== was["deletionGracePeriodSeconds"])
    yield wrong("metadata.deletionGracePeriodSeconds", grace, "field is immutable");
  if (!isDeleted) return;
  const had = stringsOf(was["finalizers"]);
  const added = stringsOf(metadata["finalizers"]).filter((name) => !had.includes(name));
  if (added.length > 0)
    yield {
      reason: "FieldValueForbidden",
      message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((one) => JSON.stringify(one)).join(", ")}}`,
      field: "metadata.finalizers",
    };
}

/** The uid of an object cannot change. */
export function uidChanged(served: ServedResource, object: JsonObject, uid: unknown): Failure {
  const causes = [wrong("metadata.uid", uid, "field is immutable")];
  return invalidObject(served, object, repeated(served, causes));
}

function invalidObject(
  { group, kind }: ServedResource,
  object: JsonObject,
  causes: Cause[],
): Failure {
  const { name } = metadataOf(object);
  return invalid({ group, plural: kind }, typeof name === "string" ? name : "", causes);
}

/** Violations of the rules of a kind: Lease and Event, which controllers write. */
function* kindCauses(object: JsonObject): Generator<Cause> {
  const { apiVersion, kind } = object;
  if (apiVersion === "coordination.k8s.io/v1" && kind === "Lease") yield* leaseCauses(object);
  if (apiVersion === "events.k8s.io/v1" && kind === "Event") yield* eventCauses(object);
}

function* leaseCauses({ spec }: JsonObject): Generator<Cause> {
  const { leaseDurationSeconds = 1, leaseTransitions = 0 } = isObject(spec) ? spec : {};
  if (typeof leaseDurationSeconds === "number" && leaseDurationSeconds <= 0)
    yield wrong("spec.leaseDurationSeconds", leaseDurationSeconds, "must be greater than 0");
  if (typeof leaseTransitions === "number" && leaseTransitions < 0)
    yield wrong("spec.leaseTransitions", leaseTransitions, "must be greater than or equal to 0");
}

/** Longest texts of an event, in characters. */
const LIMITS = { reportingInstance: 128, action: 128, reason: 128, note: 1_024 } as const;

const REQUIRED = ["eventTime", "reportingController", "reportingInstance", "action", "reason"];

function* eventCauses(event: JsonObject): Generator<Cause> {
  for (const name of REQUIRED) if (!own(event, name)) yield required(name, "");
  const type = own(event, "type") ?? "";
  if (type !== "Normal" && type !== "Warning")
    yield wrong("type", type, "has invalid value: must be Normal or Warning");
  for (const [name, limit] of Object.entries(LIMITS)) {
    const text = own(event, name);
    if (typeof text === "string" && text.length > limit)
      yield wrong(name, text, `can have at most ${limit} characters`);
  }
  const namespace = namespaceOf(event["regarding"]);
  if (namespace !== metadataOf(event)["namespace"])
    yield wrong("involvedObject.namespace", namespace, "does not match event.namespace");
}

/** Events about objects of the cluster are in the namespace `default`. */
function namespaceOf(regarding: unknown): unknown {
  return (isObject(regarding) && own(regarding, "namespace")) || "default";
}
