import { isEqual, isForbidden, type JsonObject, UnsafePatchError } from "../object/json.ts";
import { type FieldPath, FieldSet } from "./field-set.ts";
import type { FieldType } from "./field-type.ts";
import { isSameManager, type Manager } from "./managers.ts";
import { mergeTyped, removeFields } from "./merge-typed.ts";
import {
  type Comparison,
  compareTyped,
  fieldsOf,
  requireStoredTyped,
  requireTyped,
  storedFieldsOf,
  TypedValueError,
  withNamedParents,
} from "./typed-value.ts";

/** A field that another manager owns. */
export interface OwnershipConflict {
  readonly manager: Manager;
  readonly path: FieldPath;
}

/** An object and the owners of its fields. */
export interface Owned {
  readonly object: JsonObject;
  readonly managers: readonly Manager[];
}

/** The writer of a change: an entry without fields. */
type Writer = Omit<Manager, "fields">;

/** Input of an apply or an update. */
export interface OwnershipOptions {
  readonly type: FieldType;

  /** The type in an API version. Undefined for one that the resource no longer has. */
  readonly typeAt: (apiVersion: string) => FieldType | undefined;

  /** Converts an object, or a part of one, to an API version. Undefined: objects differ by their `apiVersion` alone. */
  readonly convertTo?: ((object: JsonObject, apiVersion: string) => JsonObject) | undefined;

  readonly writer: Writer;

  /** Whether a field is one that managers own. The server's own fields are not. */
  readonly isOwnable: (path: FieldPath) => boolean;
}

/** An apply that others' fields are in the way of. */
export class ApplyConflictError extends Error {
  override readonly name = "ApplyConflictError";

  readonly conflicts: readonly OwnershipConflict[];

  constructor(conflicts: readonly OwnershipConflict[]) {
    super(`Apply failed with ${conflicts.length} conflicts`);
    this.conflicts = conflicts;
  }
}

/**
 * An object does not fit the API version of a manager. Without a webhook, a server converts it by its `apiVersion` alone
 * before it compares.
 */
export class VersionConversionError extends Error {
  override readonly name = "VersionConversionError";
}

/**
 * Server-side apply: merges `applied`, removes fields that the writer applied before and no longer names unless
 * another manager owns them, and makes the writer the owner of the fields in `applied`.
 *
 * @returns the object and its owners; the same as `live` if nothing changes
 * @throws ApplyConflictError if it changes fields of others, without `force`
 * @throws VersionConversionError for an object that does not fit the version of a manager
 * @throws UnsafePatchError if it writes a field that reaches a prototype
 */
export function applyPatch(
  live: Owned,
  applied: JsonObject,
  options: OwnershipOptions & { readonly force: boolean },
): Owned {
  const { type, writer, isOwnable, force } = options;
  refuseUnsafe(applied);
  requireTyped(applied, type);
  requireVersions(live.object, live.managers, options);
  const named = fieldsOf(applied, type);
  const fields = named.filter(isOwnable);
  const entry: Manager = { ...writer, fields };
  const before = live.managers.find((manager) => isSameManager(manager, entry));
  const others = live.managers.filter((manager) => !isSameManager(manager, entry));
  const owned = others.reduce((union, manager) => union.union(manager.fields), named);
  const merged = mergeTyped(live.object, applied, type) as JsonObject;
  if (before !== undefined && !before.fields.isEmpty) {
    requireVersions(merged, [before], options, () => LAST_APPLIED);
    requireVersions(merged, others, options, addedBack);
  }
  const owners = [...others, { ...entry, fields: named }];
  const object = withoutDropped(merged, { last: before, owners, owned }, options);
  requireVersions(object, others, options, () => NEW_OBJECT);
  const changesFor = changesByVersion(live.object, object, options);
  const conflicts = others.flatMap((manager) => conflictsOf(manager, changesFor(manager)));
  if (conflicts.length > 0 && !force) throw new ApplyConflictError(conflicts);
  const rest = others.map((manager) => without(manager, changesFor(manager)));
  const isKept = before?.apiVersion === writer.apiVersion && before.fields.equals(fields);
  const isSame = isKept && isEqual(object, live.object);
  return isSame ? live : { object, managers: [...rest, entry] };
}

const LAST_APPLIED =
  "failed to prune fields: failed to convert merged object to last applied version: ";
const NEW_OBJECT = "failed to convert new object: ";

function addedBack({ apiVersion }: Manager): string {
  return `failed to prune fields: failed add back owned items: failed to convert merged object at version ${apiVersion}: `;
}

/** @throws VersionConversionError for an object that does not fit the version of a manager */
function requireVersions(
  object: JsonObject,
  managers: readonly Manager[],
  { typeAt, convertTo = same, writer }: OwnershipOptions,
  prefixFor: (manager: Manager) => string = () => "",
): void {
  for (const manager of managers.filter(({ apiVersion }) => apiVersion !== writer.apiVersion)) {
    const type = typeAt(manager.apiVersion);
    if (type === undefined)
      throw new VersionConversionError(
        `request to convert CR to an invalid group/version: ${manager.apiVersion}`,
      );
    try {
      requireStoredTyped(convertTo(object, manager.apiVersion), type);
    } catch (error) {
      if (!(error instanceof TypedValueError)) throw error;
      throw new VersionConversionError(`${prefixFor(manager)}${error.message}`);
    }
  }
}

/** The fields that a write changes, as a manager names them in its version. */
interface Changes {
  /** Added or modified. */
  readonly changed: FieldSet;

  readonly removed: FieldSet;
}

/** Compares two objects once for each version. */
function changesByVersion(
  old: JsonObject,
  next: JsonObject,
  { type, typeAt, convertTo = same, writer, isOwnable }: OwnershipOptions,
): (manager: Writer) => Changes {
  const made = new Map<string, Changes>();
  return ({ apiVersion }) => {
    const known = made.get(apiVersion);
    if (known !== undefined) return known;
    const own = apiVersion === writer.apiVersion ? type : (typeAt(apiVersion) ?? type);
    const [before, after] = [old, next].map((one) => convertTo(one, apiVersion));
    const changes = changesOf(compareTyped(before, after, own), isOwnable);
    made.set(apiVersion, changes);
    return changes;
  };
}

function changesOf(
  { added, modified, removed }: Comparison,
  isOwnable: OwnershipOptions["isOwnable"],
): Changes {
  return { changed: added.union(modified).filter(isOwnable), removed };
}

/**
 * Gives the writer of an update the fields that it has changed, and takes them from everybody else.
 *
 * @throws VersionConversionError for an object that does not fit the version of a manager
 */
export function ownUpdate(
  live: Owned,
  object: JsonObject,
  options: OwnershipOptions,
): readonly Manager[] {
  const { writer } = options;
  requireVersions(live.object, live.managers, options);
  requireVersions(object, live.managers, options);
  const changesFor = changesByVersion(live.object, object, options);
  const { changed, removed } = changesFor(writer);
  if (changed.isEmpty && removed.isEmpty) return live.managers;
  const entry: Manager = { ...writer, fields: changed };
  const before = live.managers.find((manager) => isSameManager(manager, entry));
  const others = live.managers
    .filter((manager) => manager !== before)
    .map((manager) => without(manager, changesFor(manager)));
  const fields = changed.union(before?.fields.difference(removed) ?? new FieldSet());
  const time = changed.isEmpty && before !== undefined ? before.time : entry.time;
  return [...others, { ...entry, fields, time }];
}

/** A merged object without the fields of the last apply that have no owner any more. */
function withoutDropped(
  merged: JsonObject,
  {
    last,
    owners,
    owned,
  }: {
    readonly last: Manager | undefined;
    readonly owners: readonly Manager[];
    readonly owned: FieldSet;
  },
  options: OwnershipOptions,
): JsonObject {
  if (options.convertTo !== undefined) return prunedInVersions(merged, last, owners, options);
  return pruned(merged, { last: last?.fields, owned, type: options.type }) as JsonObject;
}

interface Pruning {
  /** The fields of the last apply. */
  readonly last: FieldSet | undefined;

  /** The fields that have an owner after this one. */
  readonly owned: FieldSet;

  readonly type: FieldType;
}

/**
 * A merged object without the fields of the last apply that have no owner any more. As structured-merge-diff: an item
 * of a list or an entry of a map goes with its own owner, and takes along the fields that others have changed in it;
 * an object goes with the last owned field in it.
 */
function pruned(merged: unknown, { last, owned, type }: Pruning): unknown {
  if (last === undefined || last.isEmpty) return merged;
  const withParents = (fields: FieldSet): FieldSet => withNamedParents(fields, type);
  const left = (value: unknown): FieldSet => withParents(storedFieldsOf(value, type));
  const all = left(merged);
  const dropped = withParents(last);
  const rest = left(removeFields(merged, dropped, type)).union(withParents(owned));
  const kept = left(removeFields(merged, all.difference(rest), type));
  return removeFields(merged, all.difference(kept).intersection(dropped), type);
}

function same(object: JsonObject): JsonObject {
  return object;
}

/**
 * A merged object without the fields of the last apply that have no owner any more, where versions have fields of their own:
 * the object is converted to the version of the last apply, then to those of all owners, and back.
 */
function prunedInVersions(
  merged: JsonObject,
  last: Manager | undefined,
  owners: readonly Manager[],
  { typeAt, convertTo = same, type, writer }: OwnershipOptions,
): JsonObject {
  if (last === undefined || last.fields.isEmpty) return merged;
  const typeIn = (version: string): FieldType => typeAt(version) ?? type;
  const dropped = withNamedParents(last.fields, typeIn(last.apiVersion));
  let whole = convertTo(merged, last.apiVersion);
  let rest = removeFields(whole, dropped, typeIn(last.apiVersion)) as JsonObject;
  const versions = new Set([last, ...owners].map(({ apiVersion }) => apiVersion));
  for (const version of versions) {
    const form = typeIn(version);
    [whole, rest] = [convertTo(whole, version), convertTo(rest, version)];
    const owned = owners
      .filter(({ apiVersion }) => apiVersion === version)
      .reduce((union, { fields }) => union.union(fields), new FieldSet());
    const all = withNamedParents(storedFieldsOf(whole, form), form);
    const kept = withNamedParents(storedFieldsOf(rest, form), form).union(
      withNamedParents(owned, form),
    );
    rest = removeFields(whole, all.difference(kept), form) as JsonObject;
  }
  [whole, rest] = [convertTo(whole, last.apiVersion), convertTo(rest, last.apiVersion)];
  const form = typeIn(last.apiVersion);
  const all = withNamedParents(storedFieldsOf(whole, form), form);
  const kept = withNamedParents(storedFieldsOf(rest, form), form);
  const gone = all.difference(kept).intersection(dropped);
  return convertTo(removeFields(whole, gone, form) as JsonObject, writer.apiVersion);
}

function without(manager: Manager, { changed, removed }: Changes): Manager {
  return { ...manager, fields: manager.fields.difference(changed.union(removed)) };
}

function conflictsOf(manager: Manager, { changed }: Changes): OwnershipConflict[] {
  const paths = manager.fields.intersection(changed).paths();
  return paths.map((path) => ({ manager, path }));
}

function refuseUnsafe(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (isForbidden(name)) throw new UnsafePatchError(name);
    refuseUnsafe(member);
  }
}
