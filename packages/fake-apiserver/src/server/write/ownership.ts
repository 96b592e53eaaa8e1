import {
  applyPatch,
  type OwnershipOptions,
  ownUpdate,
  VersionConversionError,
} from "../../managed-fields/apply-patch.ts";
import type { FieldPath } from "../../managed-fields/field-set.ts";
import { type Manager, readManagers, writeManagers } from "../../managed-fields/managers.ts";
import { compareTyped } from "../../managed-fields/typed-value.ts";
import { defined, isObject, type JsonObject, metadataOf, without } from "../../object/json.ts";
import type { ApiCall } from "../request/api-call.ts";
import { convertedTo } from "../resource/normalize.ts";
import type { WriteOptions } from "./write-options.ts";

/** Fields that the server sets, or that name the object: no manager owns them. */
const SERVERS: ReadonlySet<string> = new Set(
  [
    ["f:apiVersion"],
    ["f:kind"],
    ["f:metadata"],
    ...[
      "name",
      "namespace",
      "creationTimestamp",
      "selfLink",
      "uid",
      "generation",
      "managedFields",
      "resourceVersion",
      "deletionTimestamp",
      "deletionGracePeriodSeconds",
    ].map((name) => ["f:metadata", `f:${name}`]),
  ].map((path) => path.join("/")),
);

/** A call that writes, with its time. */
export interface OwnedWrite {
  readonly call: ApiCall;
  readonly options: WriteOptions;
  readonly now: string;
}

/**
 * An object that a create or an update makes, with its `metadata.managedFields`. All entries go if one of them is of a
 * version that the resource no longer has, or that lacks a field of the object.
 *
 * @param given - the entries that the writer has sent. Without any, those of `old` stay
 */
export function ownedAfterUpdate(
  old: JsonObject | undefined,
  next: JsonObject,
  write: OwnedWrite & { readonly given: unknown },
): JsonObject {
  return withManagers(next, managedAfterUpdate(old, next, write));
}

/** An object with these entries as its `metadata.managedFields`. */
export function withManagers(object: JsonObject, managedFields: unknown): JsonObject {
  return { ...object, metadata: defined({ ...metadataOf(object), managedFields }) };
}

function managedAfterUpdate(
  old: JsonObject | undefined,
  next: JsonObject,
  { given, ...write }: OwnedWrite & { readonly given: unknown },
): JsonObject[] | undefined {
  const { managers } = write.options;
  if (managers !== undefined) return writeManagers(managers);
  const entries = entriesOf(old, given);
  const live = { object: plain(old ?? {}), managers: readManagers(entries) };
  // Managers are recorded from the creation or from the first apply on.
  if (old !== undefined && live.managers.length === 0) return undefined;
  try {
    const owners = ownUpdate(live, plain(next), ownershipOptions(write, "Update"));
    return owners === live.managers ? (entries as JsonObject[]) : writeManagers(owners);
  } catch (error) {
    if (error instanceof VersionConversionError) return undefined;
    throw error;
  }
}

/** The entries before an update: those that come with it if they can be read, or else those of the object. */
function entriesOf(old: JsonObject | undefined, given: unknown): unknown {
  if (old === undefined) return undefined;
  const isRead = Array.isArray(given) && given.length > 0 && given.every(isEntry);
  return isRead ? given : metadataOf(old)["managedFields"];
}

function isEntry(entry: unknown): boolean {
  const { operation, fieldsType, apiVersion } = isObject(entry) ? entry : ({} as JsonObject);
  const isKnown = operation === "Apply" || operation === "Update";
  return isKnown && fieldsType === "FieldsV1" && !!apiVersion;
}

/**
 * An apply to an object, or to none.
 *
 * @returns undefined if it changes nothing
 * @throws VersionConversionError if an owner is of a version that the resource no longer has, or that lacks a field
 */
export function applied(
  old: JsonObject | undefined,
  object: JsonObject,
  write: OwnedWrite,
): { readonly object: JsonObject; readonly managers: readonly Manager[] } | undefined {
  const options = ownershipOptions(write, "Apply");
  const live = { object: plain(old ?? {}), managers: managersOf(old) };
  if (old !== undefined && live.managers.length === 0)
    live.managers = [
      {
        ...options.writer,
        name: "before-first-apply",
        operation: "Update",
        fields: compareTyped({}, live.object, options.type).added.filter(options.isOwnable),
      },
    ];
  const after = applyPatch(live, object, { ...options, force: write.options.force });
  return after === live ? undefined : after;
}

function ownershipOptions(
  { call: { served, subresource }, options, now }: OwnedWrite,
  operation: Manager["operation"],
): OwnershipOptions {
  const { apiVersion, fieldType, hasStatus } = served;
  const writer = {
    name: options.manager,
    operation,
    apiVersion,
    subresource: subresource ?? "",
    time: now,
  };
  const isOfStatus = subresource === "status";
  const isOwnable = (path: FieldPath): boolean =>
    path[0] === "f:status" ? isOfStatus || !hasStatus : !isOfStatus && !SERVERS.has(path.join("/"));
  const { versions, convert } = served;
  const typeAt = (version: string) => (versions ? versions.get(version) : fieldType);
  const convertTo =
    convert && ((object: JsonObject, to: string) => convertedTo(served, object, to));
  return { type: fieldType, typeAt, convertTo, writer, isOwnable };
}

/** The owners of the fields of an object. */
export function managersOf(object: JsonObject | undefined): readonly Manager[] {
  return readManagers(object && metadataOf(object)["managedFields"]);
}

function plain(object: JsonObject): JsonObject {
  const metadata = without(metadataOf(object), "managedFields");
  return defined({ ...object, metadata: object["metadata"] === undefined ? undefined : metadata });
}
