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
import { type AdmittedWrite, type Objects, withVersion } from "./objects.ts";
import { ownedAfterUpdate, withManagers } from "./ownership.ts";
import { requireSamePlace } from "./read-object.ts";
import { requireCurrent } from "./stale.ts";
import { requireStorable, requireValid } from "./validate.ts";
import type { WriteOptions } from "./write-options.ts";

/** A change of an object. */
interface Change {
  readonly old: JsonObject;
  readonly submitted: JsonObject;

  /** The part of the object that a subresource with a kind of its own has. */
  readonly part?: ChangedPart;
}

/** A subresource with a kind of its own. */
interface ChangedPart {
  /** The part of an object. */
  readonly shown: (object: JsonObject) => JsonObject;

  /** The object after a change of the part. */
  readonly taken: (part: JsonObject) => JsonObject;
}

/**
 * The write that replaces `old`. It removes the object if it takes the last finalizer of a deleted one.
 *
 * @throws Failure if `submitted` is not valid, or names another version or uid
 */
export async function changedObject(
  objects: Objects,
  call: ApiCall,
  { old, submitted, part }: Change,
  options: WriteOptions,
): Promise<AdmittedWrite> {
  const { served, subresource, name, admission } = call;
  const planned = updatedObject(call, old, submitted, options);
  const given = givenManagers(call, submitted);
  const { managedFields } = hasNoManagers(given)
    ? {}
    : metadataOf(ownedAfterUpdate(old, planned, { call, options, now: objects.now(), given }));
  const read = (one: JsonObject): JsonObject =>
    withManagers(normalize(served, one, options.managers !== undefined).object, managedFields);
  const { shown, taken } = part ?? { shown: (one: JsonObject) => one, taken: read };
  const seen = part ? submitted : read(submitted);
  const review = { operation: "UPDATE", name, options, old: shown(old) } as const;
  const admitted = admission
    ? taken(
        await admission.mutate(call, { ...review, object: shown(seen) }, (one) =>
          shown(taken(one)),
        ),
      )
    : submitted;
  requireSamePlace(call, admitted);
  requireCurrent(call, old, admitted);
  const updated = admission ? updatedObject(call, old, admitted, options) : planned;
  const object = withManagers(updated, managedFields);
  const changes = subresource === undefined ? { submitted: admitted } : {};
  requireValid(served, object, { old, subresource, ...changes });
  const { resourceVersion } = metadataOf(old);
  await admission?.validate(call, {
    ...review,
    object: shown(withVersion(object, resourceVersion)),
  });
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
  const { object: read } = normalize(served, merged, managers !== undefined);
  const next = isOfStatus ? defined({ ...old, status: read["status"] }) : read;
  const metadata = keptMetadata(old, isOfStatus ? old : next);
  const generation = metadata["generation"];
  if (typeof generation === "number" && !isEqual(specOf(served, old), specOf(served, next)))
    metadata["generation"] = generation + 1;
  return { ...next, metadata };
}

/** The managers that come with a write. One of the status of a custom resource brings none. */
function givenManagers({ served, subresource }: ApiCall, submitted: JsonObject): unknown {
  if (subresource === "status" && !served.isBuiltIn) return undefined;
  return metadataOf(submitted)["managedFields"];
}

/** Whether a write asks to forget the managers of its object: by an empty entry as the only one. */
function hasNoManagers(managers: unknown): boolean {
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
