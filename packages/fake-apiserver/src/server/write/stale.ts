import { wrong } from "../../object/cause.ts";
import { type JsonObject, metadataOf, without } from "../../object/json.ts";
import { conflict, Failure, invalid } from "../failure.ts";
import type { ApiCall } from "../request/api-call.ts";
import { isOfStatusAlone } from "./read-object.ts";
import { uidChanged } from "./validate.ts";

/**
 * Checks the uid and the version in a submitted object against the stored one.
 *
 * @throws Failure if they name another object or another version
 */
export function requireCurrent(call: ApiCall, old: JsonObject, submitted: JsonObject): void {
  const { name, uid, resourceVersion } = metadataOf(old);
  const given = metadataOf(submitted);
  requireNumber(given["resourceVersion"]);
  const isIgnored = call.verb === "patch" && isOfStatusAlone(call);
  if (given["uid"] && given["uid"] !== uid && !isIgnored) throw otherUid(call, old, given["uid"]);
  if (!given["resourceVersion"] || given["resourceVersion"] === "0") {
    if (!call.served.canPutBlindly) throw versionRequired(call, name as string);
  } else if (given["resourceVersion"] !== resourceVersion)
    throw conflict(call.served, name as string);
}

/** @throws Failure for a version that is no number */
export function requireNumber(version: unknown): void {
  if (typeof version !== "string" || /^\d*$/.test(version)) return;
  throw new Failure(500, {
    message: `strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`,
  });
}

function otherUid({ served, verb }: ApiCall, old: JsonObject, given: unknown): Failure {
  if (verb === "patch") return uidChanged(served, old, given);
  const { name, namespace, uid } = metadataOf(old);
  const group = served.isBuiltIn ? [] : [served.group];
  const key = ["/registry", ...group, served.plural, ...(namespace ? [namespace] : []), name];
  const why = `StorageError: invalid object, Code: 4, Key: ${key.join("/")}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${given}, UID in object meta: ${uid}`;
  return conflict(served, name as string, why);
}

function versionRequired({ served }: ApiCall, name: string): Failure {
  const cause = wrong("metadata.resourceVersion", 0, "must be specified for an update");
  return invalid(served, name, [cause]);
}

/**
 * An object that a PUT creates, with any version.
 *
 * @throws Failure if it names a uid: the object that had it is gone
 */
export function newByPut({ served, name }: ApiCall, submitted: JsonObject): JsonObject {
  const { uid } = metadataOf(submitted);
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: `;
  if (uid) throw conflict(served, name, why);
  return withoutVersion(submitted);
}

/** A submitted object without its version. */
export function withoutVersion(submitted: JsonObject): JsonObject {
  return { ...submitted, metadata: without(metadataOf(submitted), "resourceVersion") };
}

/** @throws Failure for a new object that has a version */
export function requireNoVersion(submitted: JsonObject): void {
  const { resourceVersion } = metadataOf(submitted);
  // A server takes what is no number for none.
  if (!/^0*[1-9]\d*$/.test(String(resourceVersion))) return;
  const message = "resourceVersion should not be set on objects to be created";
  throw new Failure(500, { message });
}
