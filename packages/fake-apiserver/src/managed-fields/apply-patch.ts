import { isEqual, isForbidden, type JsonObject, UnsafePatchError } from "../object/json.ts";
import { type FieldPath, FieldSet } from "./field-set.ts";
import type { FieldType } from "./field-type.ts";
import { isSameManager, type Manager } from "./managers.ts";
import { mergeTyped, removeFields } from "./merge-typed.ts";
import {
  compareTyped,
  fieldsOf,
  requireTyped,
  storedFieldsOf,
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
 * Server-side apply: merges `applied`, removes fields that the writer applied before and no longer names unless
 * another manager owns them, and makes the writer the owner of the fields in `applied`.
 *
 * @returns the object and its owners; the same as `live` if nothing changes
 * @throws ApplyConflictError if it changes fields of others, without `force`
 * @throws UnsafePatchError if it writes a field that reaches a prototype
 */
export function applyPatch(
  live: Owned,
  applied: JsonObject,
  { type, writer, isOwnable, force }: OwnershipOptions & { readonly force: boolean },
): Owned {
  refuseUnsafe(applied);
  requireTyped(applied, type);
  const named = fieldsOf(applied, type);
  const fields = named.filter(isOwnable);
  const entry: Manager = { ...writer, fields };
  const before = live.managers.find((manager) => isSameManager(manager, entry));
  const others = live.managers.filter((manager) => !isSameManager(manager, entry));
  const owned = others.reduce((union, manager) => union.union(manager.fields), named);
  const merged = mergeTyped(live.object, applied, type);
  const object = pruned(merged, { last: before?.fields, owned, type }) as JsonObject;
  const { added, modified, removed } = compareTyped(live.object, object, type);
  const changed = added.union(modified).filter(isOwnable);
  const conflicts = conflictsOf(others, changed);
  if (conflicts.length > 0 && !force) throw new ApplyConflictError(conflicts);
  const rest = others.map((manager) => without(manager, changed.union(removed)));
  const isSame = isEqual(object, live.object) && before?.fields.equals(fields) === true;
  return isSame ? live : { object, managers: [...rest, entry] };
}

/** Gives the writer of an update the fields that it has changed, and takes them from everybody else. */
export function ownUpdate(
  live: Owned,
  object: JsonObject,
  { type, writer, isOwnable }: OwnershipOptions,
): readonly Manager[] {
  const { added, modified, removed } = compareTyped(live.object, object, type);
  const changed = added.union(modified).filter(isOwnable);
  if (changed.isEmpty && removed.isEmpty) return live.managers;
  const entry: Manager = { ...writer, fields: changed };
  const before = live.managers.find((manager) => isSameManager(manager, entry));
  const others = live.managers
    .filter((manager) => manager !== before)
    .map((manager) => without(manager, changed.union(removed)));
  const fields = changed.union(before?.fields.difference(removed) ?? new FieldSet());
  const time = changed.isEmpty && before !== undefined ? before.time : entry.time;
  return [...others, { ...entry, fields, time }];
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

function without(manager: Manager, fields: FieldSet): Manager {
  return { ...manager, fields: manager.fields.difference(fields) };
}

function conflictsOf(others: readonly Manager[], changed: FieldSet): OwnershipConflict[] {
  return others.flatMap((manager) =>
    manager.fields
      .intersection(changed)
      .paths()
      .map((path) => ({ manager, path })),
  );
}

function refuseUnsafe(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (isForbidden(name)) throw new UnsafePatchError(name);
    refuseUnsafe(member);
  }
}
