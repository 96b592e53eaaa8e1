import { type Cause, type Failure, invalid, wrong } from "../failure.ts";
import { type JsonObject, metadataOf, stringsOf } from "../json.ts";
import { schemaCauses } from "../schema/check-schema.ts";
import type { ServedResource } from "../served-resource.ts";
import { kindCauses } from "./kind-causes.ts";
import { metadataCauses } from "./metadata-causes.ts";

/** @throws Failure with a cause for every field that is wrong */
export function requireValid(served: ServedResource, object: JsonObject): void {
  const causes = [
    ...metadataCauses(served, object),
    ...(served.isBuiltIn ? kindCauses(object) : []),
    ...(served.schema === undefined ? [] : schemaCauses(served.schema, object, "")),
  ];
  if (causes.length > 0) throw invalidObject(served, object, causes);
}

/** @throws Failure for a change that an update must not make */
export function requireValidUpdate(
  served: ServedResource,
  old: JsonObject,
  next: JsonObject,
): void {
  if (metadataOf(old)["deletionTimestamp"] === undefined) return;
  const had = stringsOf(metadataOf(old)["finalizers"]);
  const added = stringsOf(metadataOf(next)["finalizers"]).filter((name) => !had.includes(name));
  if (added.length === 0) return;
  const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`;
  throw invalidObject(served, next, [
    { reason: "FieldValueForbidden", message, field: "metadata.finalizers" },
  ]);
}

/** The uid of an object cannot change. */
export function uidChanged(served: ServedResource, object: JsonObject, uid: unknown): Failure {
  return invalidObject(served, object, [wrong("metadata.uid", uid, "field is immutable")]);
}

function invalidObject(
  { group, kind }: ServedResource,
  object: JsonObject,
  causes: Cause[],
): Failure {
  const { name } = metadataOf(object);
  return invalid({ group, plural: kind }, typeof name === "string" ? name : "", causes);
}
