import {
  defined,
  isEqual,
  type JsonObject,
  metadataOf,
  stringsOf,
  without,
} from "../../object/json.ts";
import { keptMetadata } from "../../object/metadata.ts";
import { finalizerWarnings } from "../../object/metadata-causes.ts";
import type { ApiCall } from "../request/api-call.ts";
import { normalize } from "../resource/normalize.ts";
import type { ServedResource } from "../resource/served-resource.ts";
import type { AdmittedWrite, Objects } from "./objects.ts";
import { ownedAfterUpdate } from "./ownership.ts";
import { requireCurrent } from "./stale.ts";
import { requireStorable, requireValid } from "./validate.ts";
import type { WriteOptions } from "./write-options.ts";

/**
 * The write that replaces `old`. It removes the object if it takes the last finalizer of a deleted one.
 *
 * @throws Failure if `submitted` is not valid, or names another version or uid
 */
export async function changedObject(
  objects: Objects,
  call: ApiCall,
  { old, submitted }: { readonly old: JsonObject; readonly submitted: JsonObject },
  options: WriteOptions,
): Promise<AdmittedWrite> {
  const { served, subresource, name } = call;
  requireCurrent(call, old, submitted);
  const updated = updatedObject(call, old, submitted, options);
  const given = metadataOf(submitted)["managedFields"];
  const object = hasNoManagers(submitted)
    ? { ...updated, metadata: without(metadataOf(updated), "managedFields") }
    : ownedAfterUpdate(old, updated, { call, options, now: objects.now(), given });
  const changes = subresource === undefined ? { submitted } : {};
  requireValid(served, object, { old, subresource, ...changes });
  const isRemoved = isGone(object);
  if (!isRemoved) requireStorable(call, object);
  const warnings = finalizerWarnings(served, old, updated);
  return { call, name, old, object, isRemoved, options, status: 200, warnings };
}

function updatedObject(
  { served, subresource }: ApiCall,
  old: JsonObject,
  submitted: JsonObject,
  { managers }: WriteOptions,
): JsonObject {
  const isOfStatus = subresource === "status";
  const merged = isOfStatus
    ? defined({ ...old, status: submitted["status"] })
    : defined({ ...submitted, ...(served.hasStatus && { status: old["status"] }) });
  const { object: next } = normalize(served, merged, managers !== undefined);
  const metadata = keptMetadata(old, isOfStatus ? old : next);
  const generation = metadata["generation"];
  if (typeof generation === "number" && !isEqual(specOf(served, old), specOf(served, next)))
    metadata["generation"] = generation + 1;
  return { ...next, metadata };
}

/** Whether a submitted object asks to forget its managers: by an empty entry as the only one. */
function hasNoManagers(submitted: JsonObject): boolean {
  const managers = metadataOf(submitted)["managedFields"];
  return Array.isArray(managers) && managers.length === 1 && isEqual(managers[0], {});
}

/** Whether the last finalizer of a deleted object has gone. */
function isGone(object: JsonObject): boolean {
  const { deletionTimestamp, finalizers } = metadataOf(object);
  return deletionTimestamp !== undefined && stringsOf(finalizers).length === 0;
}

/** The part whose changes raise the generation. */
function specOf({ hasStatus }: ServedResource, object: JsonObject): JsonObject {
  return without(object, "metadata", ...(hasStatus ? ["status"] : []));
}
