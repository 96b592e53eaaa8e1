import { applyPatch, type OwnershipOptions, ownUpdate } from "../../managed-fields/apply-patch.ts";
import type { FieldPath } from "../../managed-fields/field-set.ts";
import { type Manager, readManagers, writeManagers } from "../../managed-fields/managers.ts";
import { compareTyped } from "../../managed-fields/typed-value.ts";
import { defined, type JsonObject, metadataOf, without } from "../../object/json.ts";
import { Failure } from "../failure.ts";
import type { ApiCall } from "../request/api-call.ts";
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
 * `metadata.managedFields` of an object that a create or an update makes. All entries go if one of them is of a version that
 * the resource no longer has.
 *
 * @param given - the entries that the writer has sent. Without any, those of `old` stay
 */
export function managedAfterUpdate(
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
  if (removedVersionIn(live.managers, write.call) !== undefined) return undefined;
  const owners = ownUpdate(live, plain(next), ownershipOptions(write, "Update"));
  if (owners === live.managers) return entries as JsonObject[];
  return writeManagers(owners);
}

/** The entries before an update: those that come with it, or else those of the object. */
function entriesOf(old: JsonObject | undefined, given: unknown): unknown {
  if (old === undefined) return undefined;
  return Array.isArray(given) && given.length > 0 ? given : metadataOf(old)["managedFields"];
}

/** The version of an entry that the resource no longer has. */
function removedVersionIn(managers: readonly Manager[], { served }: ApiCall): string | undefined {
  const { versions } = served;
  return versions && managers.find(({ apiVersion }) => !versions.has(apiVersion))?.apiVersion;
}

/**
 * An apply to an object, or to none.
 *
 * @returns undefined if it changes nothing
 * @throws Failure if the fields of an owner are of a version that the resource no longer has
 */
export function applied(
  old: JsonObject | undefined,
  object: JsonObject,
  write: OwnedWrite,
): { readonly object: JsonObject; readonly managers: readonly Manager[] } | undefined {
  const options = ownershipOptions(write, "Apply");
  const live = { object: plain(old ?? {}), managers: managersOf(old) };
  const removed = removedVersionIn(live.managers, write.call);
  if (removed !== undefined)
    throw new Failure(500, {
      message: `request to convert CR to an invalid group/version: ${removed}`,
    });
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
  return { type: fieldType, writer, isOwnable };
}

function managersOf(object: JsonObject | undefined): readonly Manager[] {
  return readManagers(object && metadataOf(object)["managedFields"]);
}

function plain(object: JsonObject): JsonObject {
  const metadata = without(metadataOf(object), "managedFields");
  return defined({ ...object, metadata: object["metadata"] === undefined ? undefined : metadata });
}
