import { hasRules, ruleCauses } from "../cel/rules.ts";
import { type Cause, type Failure, invalid, wrong } from "../failure.ts";
import { isObject, type JsonObject, metadataOf, own, propertiesOf, stringsOf } from "../json.ts";
import type { ServedResource } from "../served-resource.ts";
import { schemaCauses } from "../validation/check-schema.ts";
import { kindCauses } from "./kind-causes.ts";
import { metadataCauses } from "./metadata-causes.ts";

/** A write whose object is checked. */
export interface CheckedWrite {
  /** The object before an update. */
  readonly old?: JsonObject | undefined;

  /** A write to `status` is checked for nothing else. */
  readonly subresource?: string | undefined;
}

/** @throws Failure with a cause for every field that is wrong */
export function requireValid(
  served: ServedResource,
  object: JsonObject,
  write: CheckedWrite = {},
): void {
  const causes = [
    ...metadataCauses(served, object),
    ...(served.isBuiltIn ? kindCauses(object) : []),
    ...(served.schema === undefined ? [] : contentCauses(served.schema, object, write)),
  ];
  if (causes.length > 0) throw invalidObject(served, object, causes);
}

/** Violations of a schema and of its rules, which see only values of the right form. */
function contentCauses(
  schema: JsonObject,
  object: JsonObject,
  { old, subresource }: CheckedWrite,
): readonly Cause[] {
  const causes =
    subresource === "status"
      ? [...statusCauses(schema, object, old)]
      : [...schemaCauses(schema, object, "", old)];
  if (!causes.some(({ reason }) => BLOCKING.has(reason)))
    return [...causes, ...ruleCauses(schema, object, old)];
  return hasRules(schema) ? [...causes, wrong("<nil>", null, NOT_CHECKED)] : causes;
}

/** The server checks a status as an object of its own: messages name the path within it. */
function* statusCauses(
  schema: JsonObject,
  { status }: JsonObject,
  old: JsonObject | undefined,
): Generator<Cause> {
  const known = own(propertiesOf(schema), "status");
  if (!isObject(known) || status === undefined) return;
  for (const { field, ...cause } of schemaCauses(known, status, "", old?.["status"])) {
    const below = field === "" ? "status" : `status.${field}`;
    yield { ...cause, field: field === "<nil>" ? field : below };
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

/** @throws Failure for a change that an update must not make */
export function requireValidUpdate(
  served: ServedResource,
  old: JsonObject,
  submitted: JsonObject,
): void {
  const causes = [...updateCauses(metadataOf(old), metadataOf(submitted))];
  if (causes.length > 0) throw invalidUpdate(served, submitted, causes);
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
      message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`,
      field: "metadata.finalizers",
    };
}

/** The uid of an object cannot change. */
export function uidChanged(served: ServedResource, object: JsonObject, uid: unknown): Failure {
  return invalidUpdate(served, object, [wrong("metadata.uid", uid, "field is immutable")]);
}

/** The server checks the metadata of a custom resource twice in an update, and names each cause twice. */
function invalidUpdate(served: ServedResource, object: JsonObject, causes: Cause[]): Failure {
  return invalidObject(served, object, served.isBuiltIn ? causes : [...causes, ...causes]);
}

function invalidObject(
  { group, kind }: ServedResource,
  object: JsonObject,
  causes: Cause[],
): Failure {
  const { name } = metadataOf(object);
  return invalid({ group, plural: kind }, typeof name === "string" ? name : "", causes);
}
