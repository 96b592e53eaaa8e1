import { isObject } from "../object/json.ts";
import type { FieldPath, FieldSet } from "./field-set.ts";
import type { FieldType } from "./field-type.ts";
import { type Member, membersOf, objectOf, storedMembersOf } from "./typed-value.ts";

/** Merges an applied value into the stored one: objects by field, lists by the identity of their items. */
export function mergeTyped(live: unknown, applied: unknown, type: FieldType): unknown {
  return mergeAt(live, applied, type, []);
}

function mergeAt(live: unknown, applied: unknown, type: FieldType, path: FieldPath): unknown {
  if (applied === undefined || (applied === null && isMerged(live, type))) return live;
  const after = membersOf(applied, type, path);
  const before = storedMembersOf(live, type, path);
  if (after === undefined || before === undefined || !isSameForm(live, applied)) return applied;
  const merged = (Array.isArray(applied) ? mergedOrder : mergedFields)(before, after).map(
    ({ was, is }) => {
      const member = (is ?? was) as Member;
      const value = mergeAt(was?.value, is?.value, member.type, [...path, member.element]);
      return { ...member, value };
    },
  );
  return Array.isArray(applied) ? merged.map(({ value }) => value) : objectOf(merged);
}

function isSameForm(live: unknown, applied: unknown): boolean {
  return live === undefined || Array.isArray(live) === Array.isArray(applied);
}

/** Whether a value has members by which it is merged: a null adds none. */
function isMerged(live: unknown, { form, map, list }: FieldType): boolean {
  if (Array.isArray(live))
    return form === "list" && live.length > 0 && list !== undefined && list.kind !== "atomic";
  return form === "map" && isObject(live) && Object.keys(live).length > 0 && !map.isAtomic;
}

interface Pair {
  readonly was: Member | undefined;
  readonly is: Member | undefined;
}

function mergedFields(before: readonly Member[], after: readonly Member[]): Pair[] {
  const applied = byElement(after);
  const live = byElement(before);
  return [
    ...before.map((was) => ({ was, is: applied.get(was.element) })),
    ...after.filter(({ element }) => !live.has(element)).map((is) => ({ was: undefined, is })),
  ];
}

/**
 * The items of two lists: those of the applied list in its order, and between them those that only the live
 * list has, each before the shared item that it stands before there. As structured-merge-diff does it.
 */
function mergedOrder(before: readonly Member[], after: readonly Member[]): Pair[] {
  const applied = byElement(after);
  const live = byElement(before);
  const shared = after.map(({ element }) => element).filter((element) => live.has(element));
  const pairs: Pair[] = [];
  let at = 0;
  const takeUpTo = (end: string | undefined): void => {
    for (; at < before.length && before[at]?.element !== end; at++) {
      const was = before[at] as Member;
      if (!applied.has(was.element)) pairs.push({ was, is: undefined });
    }
  };
  for (const is of after) {
    takeUpTo(shared[0]);
    pairs.push({ was: live.get(is.element), is });
    if (is.element === shared[0]) shared.shift();
  }
  takeUpTo(undefined);
  return pairs;
}

function byElement(members: readonly Member[]): Map<string, Member> {
  return new Map(members.map((member) => [member.element, member]));
}

/** A value without some of its fields. As structured-merge-diff: an object that stays without any of them is null. */
export function removeFields(value: unknown, remove: FieldSet, type: FieldType): unknown {
  return removeAt(value, remove, type, []);
}

function removeAt(value: unknown, remove: FieldSet, type: FieldType, path: FieldPath): unknown {
  const members = remove.hasBelow(path) ? storedMembersOf(value, type, path) : undefined;
  if (members === undefined) return value;
  const kept = members
    .filter(({ element }) => !remove.has([...path, element]))
    .map((member) => ({
      ...member,
      value: removeAt(member.value, remove, member.type, [...path, member.element]),
    }));
  if (kept.length === 0 && path.length > 0) return null;
  return isObject(value) ? objectOf(kept) : kept.map((member) => member.value);
}
