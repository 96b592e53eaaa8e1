import { goText, goType } from "../object/cause.ts";
import { goJson, isEqual, isObject, type JsonObject, own } from "../object/json.ts";
import { type FieldPath, FieldSet, formatPath } from "./field-set.ts";
import type { FieldType, ListType } from "./field-type.ts";

/** A value does not fit its type: the schema has no such field, or a list has an item twice. */
export class TypedValueError extends Error {
  override readonly name = "TypedValueError";
}

/** A list of a built-in type of which the fake server does not know how it is merged. */
export class UnknownListError extends Error {
  override readonly name = "UnknownListError";

  constructor(path: string) {
    super(`FakeApi does not know how Kubernetes merges the list ${path}`);
  }
}

/** A member of an object or of a list with identity: a step of a path, its value and its type. */
export interface Member {
  readonly element: string;
  readonly value: unknown;
  readonly type: FieldType;

  /** Whether the member is a field that the schema names, and is therefore owned by its content. */
  readonly isNamed: boolean;
}

/** Takes the text of a member that does not fit. */
type Report = (problem: string) => void;

function fail(problem: string): never {
  throw new TypedValueError(problem);
}

/**
 * The members by which a value is owned. Undefined: the value is owned as a whole.
 *
 * @param report - gets the members that do not fit the type, which are left out. Default: throws
 * @throws TypedValueError if the value does not fit its type
 */
export function membersOf(
  value: unknown,
  { map, list }: FieldType,
  path: FieldPath,
  report: Report = fail,
): Member[] | undefined {
  if (isObject(value)) {
    if (map.isAtomic) return undefined;
    return Object.entries(value).flatMap(([name, member]) => {
      const found = map.field(name);
      const element = `f:${name}`;
      if (found !== undefined) return [{ element, value: member, ...found }];
      report(`${formatPath([...path, element])}: field not declared in schema`);
      return [];
    });
  }
  if (!Array.isArray(value)) return undefined;
  if (list === undefined) throw new UnknownListError(formatPath(path));
  return list.kind === "atomic" ? undefined : itemsOf(value, { list, path }, report);
}

const DUPLICATE = ": duplicate entries for key ";

function itemsOf(
  items: readonly unknown[],
  {
    list,
    path,
  }: { readonly list: Exclude<ListType, { kind: "atomic" }>; readonly path: FieldPath },
  report: Report,
): Member[] {
  const members = new Map<string, Member>();
  for (const [index, item] of items.entries()) {
    const element =
      list.kind === "set"
        ? elementOf(item, index, { path, report })
        : keyOf(item, index, { list, path, report });
    // A server looks at none of those that follow.
    if (element === undefined) break;
    if (members.has(element)) report(`${formatPath(path)}${DUPLICATE}${formatPath([element])}`);
    else members.set(element, { element, value: item, type: list.item ?? SCALAR, isNamed: false });
  }
  return [...members.values()];
}

const SCALAR: FieldType = {
  map: { isAtomic: true, field: () => undefined },
  list: { kind: "atomic" },
};

interface ItemPlace {
  readonly list: Extract<ListType, { kind: "map" }>;
  readonly path: FieldPath;
  readonly report: Report;
}

/** Undefined for an item that is no scalar, which is reported. */
function elementOf(
  item: unknown,
  index: number,
  { path, report }: Pick<ItemPlace, "path" | "report">,
): string | undefined {
  if (typeof item !== "object") return `v:${goJson(item)}`;
  const kind = item === null ? "an explicit null" : "a map type";
  const problem = Array.isArray(item)
    ? "not supported: associative list with lists as elements"
    : `associative list without keys has an element that's ${kind}`;
  report(`${formatPath(path)}: element ${index}: ${problem}`);
  return undefined;
}

/** Undefined for an item without keys, which is reported. */
function keyOf(
  item: unknown,
  index: number,
  { list, path, report }: ItemPlace,
): string | undefined {
  const place = `${formatPath(path)}: element ${index}: associative list with keys`;
  if (!isObject(item)) {
    report(`${place} may not have ${item === null ? "a null element" : "non-map elements"}`);
    return undefined;
  }
  const keys = [...list.keys].sort().flatMap((key) => {
    const given = own(item, key);
    const value = given === undefined ? own(list.defaults, key) : given;
    return value === undefined ? [] : [[key, value] as const];
  });
  if (keys.length === 0) {
    report(
      `${place} has an element that omits all key fields [${list.keys.map((key) => JSON.stringify(key)).join(" ")}] (and doesn't have default values for any key fields)`,
    );
    return undefined;
  }
  return `k:${goJson(Object.fromEntries(keys))}`;
}

/**
 * Checks the forms of an applied value, also within parts that are owned as a whole.
 *
 * @throws TypedValueError that names each value of another form
 */
export function requireTyped(value: unknown, type: FieldType): void {
  requireNone(problemsOf(value, type));
}

/**
 * Checks the forms of a stored value, in which an item may be there twice.
 *
 * @throws TypedValueError that names each value of another form
 */
export function requireStoredTyped(value: unknown, type: FieldType): void {
  requireNone(storedProblems(value, type));
}

/** Whether a stored value has the forms of its type. */
export function isTyped(value: unknown, type: FieldType): boolean {
  return storedProblems(value, type).length === 0;
}

function storedProblems(value: unknown, type: FieldType): readonly string[] {
  return problemsOf(value, type).filter((problem) => !problem.includes(DUPLICATE));
}

function problemsOf(value: unknown, type: FieldType): readonly string[] {
  const problems: string[] = [];
  collect(value, { type, path: [], report: (problem) => problems.push(problem) });
  return problems;
}

function requireNone(problems: readonly string[]): void {
  const [first] = problems;
  if (first === undefined) return;
  throw new TypedValueError(problems.length === 1 ? first : ["errors:", ...problems].join("\n  "));
}

interface Typed {
  readonly type: FieldType;
  readonly path: FieldPath;
  readonly report: Report;
}

function collect(value: unknown, { type, path, report }: Typed): void {
  if (value === null || value === undefined) return;
  const { form } = type;
  if (form !== undefined && !IS_FORM[form](value)) {
    report(`${formatPath(path)}: ${mismatch(value, form)}`);
    return;
  }
  for (const { element, value: member, type: below } of partsOf(value, { type, path, report }))
    collect(member, { type: below, path: [...path, element], report });
}

/** The members of a value, also of one that is owned as a whole. */
function partsOf(
  value: unknown,
  { type, path, report }: Typed,
): readonly Pick<Member, "element" | "value" | "type">[] {
  if (!Array.isArray(value) || type.list?.kind !== "atomic") {
    const map = isObject(value) ? { ...type.map, isAtomic: false } : type.map;
    return membersOf(value, { ...type, map }, path, report) ?? [];
  }
  const { item } = type.list;
  if (item === undefined) return [];
  return value.map((one, index) => ({ element: `i:${index}`, value: one, type: item }));
}

const IS_FORM: Readonly<Record<NonNullable<FieldType["form"]>, (value: unknown) => boolean>> = {
  map: isObject,
  list: Array.isArray,
  string: (value) => typeof value === "string",
  numeric: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  "any scalar": (value) => typeof value !== "object",
};

function mismatch(value: unknown, form: NonNullable<FieldType["form"]>): string {
  if (form === "numeric") return `expected numeric (int or float), got ${goType(value)}`;
  if (form === "string")
    return `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
  return `expected ${form}, got &{${goText(value)}}`;
}

/** A value as Go prints it with `%#v`. */
function goSyntax(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (!isObject(value)) return value === null ? "interface {}(nil)" : JSON.stringify(value);
  const entries = Object.entries(value).map(
    ([name, one]) => `${JSON.stringify(name)}:${goSyntax(one)}`,
  );
  return `map[string]interface {}{${entries.sort().join(", ")}}`;
}

/** The fields that an applied object sets. */
export function fieldsOf(value: unknown, type: FieldType): FieldSet {
  return new FieldSet(setPaths(value, type, [], membersOf));
}

/** The fields that a stored object has. */
export function storedFieldsOf(value: unknown, type: FieldType): FieldSet {
  return new FieldSet(setPaths(value, type, [], storedMembersOf));
}

/** Fields, and every field named by the schema that one of them is in. */
export function withNamedParents(fields: FieldSet, type: FieldType): FieldSet {
  const parents = fields.paths().flatMap((path) => namedParents(path, type));
  return fields.union(new FieldSet(parents));
}

function namedParents(path: FieldPath, type: FieldType): FieldPath[] {
  let below: FieldType | undefined = type;
  return path.slice(0, -1).flatMap((element, index) => {
    const isField = element.startsWith("f:");
    const field = isField ? below?.map.field(element.slice(2)) : undefined;
    below = isField ? field?.type : itemTypeOf(below);
    return field?.isNamed ? [path.slice(0, index + 1)] : [];
  });
}

function itemTypeOf(type: FieldType | undefined): FieldType | undefined {
  return type?.list?.kind === "map" ? type.list.item : undefined;
}

/** The members of a value, or undefined for one that is owned as a whole. */
type Split = (value: unknown, type: FieldType, path: FieldPath) => Member[] | undefined;

function* setPaths(
  value: unknown,
  type: FieldType,
  path: FieldPath,
  split: Split,
): Generator<FieldPath> {
  const members = split(value, type, path);
  if (members === undefined) {
    if (path.length > 0) yield path;
    return;
  }
  for (const { element, value: member, type: below, isNamed } of members) {
    const at = [...path, element];
    if (!isNamed || isEmptyMap(member)) yield at;
    yield* setPaths(member, below, at, split);
  }
}

/** The fields in which two values differ. */
export interface Comparison {
  /** Those that the new value has and the old one has not. */
  readonly added: FieldSet;

  /** Those that both have, with different values. */
  readonly modified: FieldSet;

  /** Those that the old value has and the new one has not. */
  readonly removed: FieldSet;
}

/** Compares two values of one type. */
export function compareTyped(old: unknown, next: unknown, type: FieldType): Comparison {
  const paths = {
    added: [] as FieldPath[],
    modified: [] as FieldPath[],
    removed: [] as FieldPath[],
  };
  compareAt(old, next, { type, path: [], paths });
  return {
    added: new FieldSet(paths.added),
    modified: new FieldSet(paths.modified),
    removed: new FieldSet(paths.removed),
  };
}

interface Place {
  readonly type: FieldType;
  readonly path: FieldPath;
  readonly paths: Record<keyof Comparison, FieldPath[]>;
}

function compareAt(old: unknown, next: unknown, place: Place): void {
  const { type, path, paths } = place;
  const isBoth = old !== undefined && next !== undefined;
  if (!isBoth && path.length > 0) paths[old === undefined ? "added" : "removed"].push(path);
  const before = storedMembersOf(old, type, path);
  const after = storedMembersOf(next, type, path);
  // Members come and go also where a value takes the place of an object.
  compareMembers(before ?? [], after ?? [], place);
  if (isBoth && !haveMembers(before, after) && !isEqual(old, next)) paths.modified.push(path);
}

function haveMembers(before: Member[] | undefined, after: Member[] | undefined): boolean {
  return before !== undefined && after !== undefined && before.length + after.length > 0;
}

function compareMembers(
  before: readonly Member[],
  after: readonly Member[],
  { path, paths }: Place,
): void {
  const others = new Map(after.map((member) => [member.element, member]));
  for (const { element, value, type } of before) {
    compareAt(value, others.get(element)?.value, { type, path: [...path, element], paths });
    others.delete(element);
  }
  for (const { element, value, type } of others.values())
    compareAt(undefined, value, { type, path: [...path, element], paths });
}

/** For a stored value: parts that do not fit their type count as one value. */
export function storedMembersOf(
  value: unknown,
  type: FieldType,
  path: FieldPath,
): Member[] | undefined {
  // A map that its owner has emptied is null.
  if (value === undefined || (value === null && type.form === "map")) return [];
  try {
    // An item that is there twice is one member.
    return membersOf(value, type, path, (problem) => {
      if (!problem.includes(DUPLICATE)) fail(problem);
    });
  } catch (error) {
    if (error instanceof TypedValueError || error instanceof UnknownListError) return undefined;
    throw error;
  }
}

function isEmptyMap(value: unknown): boolean {
  return value === null || (isObject(value) && Object.keys(value).length === 0);
}

/** An object from its members. */
export function objectOf(members: readonly Member[]): JsonObject {
  return Object.fromEntries(members.map(({ element, value }) => [element.slice(2), value]));
}
