import { isDeepStrictEqual } from "node:util";

/** A field in `fieldsV1`: its members, or none for a field that is owned as a whole. */
type Owned = Readonly<Record<string, unknown>>;

type Fields = Readonly<Record<string, unknown>>;

/** Fields of an object that nobody owns. */
const UNOWNED = new Set(["apiVersion", "kind"]);
const UNOWNED_METADATA = new Set(["name", "namespace", "uid"]);

/** Most paths that are kept for a resource. A map with keys of users could have any number. */
const MAX_PATHS = 1_000;

/**
 * The fields of a resource that are owned as a whole, as far as responses have shown it. `fieldsV1` does not: a field
 * without members was applied as a whole, or as an empty map of which others own members.
 */
export class WholeFields {
  readonly #paths = new Set<string>();

  has(value: unknown, path: string): boolean {
    return this.#paths.has(pathOf(value, path));
  }

  /**
   * @param applied - the object that was applied, as JSON has it
   * @param owned - the fields that its manager has by the response
   */
  learn(applied: unknown, owned: unknown): void {
    this.#learn(applied, owned, "");
  }

  #learn(value: unknown, owned: unknown, path: string): void {
    if (!isFields(owned) || typeof value !== "object" || value === null) return;
    if (isWhole(owned)) {
      // A map with members of its own would show one of them.
      if (ownsMembers(value) && this.#paths.size < MAX_PATHS) this.#paths.add(pathOf(value, path));
    } else if (Array.isArray(value)) {
      for (const [element, below] of Object.entries(owned)) {
        this.#learn(itemOf(value, element, Object.keys(owned)), below, `${path}/k`);
      }
    } else
      for (const [name, member] of Object.entries(value))
        this.#learn(member, owned[`f:${name}`], `${path}/${name}`);
  }
}

function pathOf(value: unknown, path: string): string {
  return Array.isArray(value) ? `list ${path}` : `map ${path}`;
}

/** Whether the owner of a map or a list with these members owns one of them, if it is not owned as a whole. */
function ownsMembers(value: object): boolean {
  return Object.keys(value).length > 0;
}

/**
 * Whether an apply would change neither a field nor its owner: the manager owns exactly the fields that are applied,
 * and they have these values. False if it cannot be told.
 *
 * @param applied - the object to apply, as JSON has it
 * @param live - the object of the server
 * @param owned - the fields that the manager has applied last
 */
export function isApplied(
  applied: Fields,
  live: Fields,
  { owned, whole }: { readonly owned: unknown; readonly whole: WholeFields },
): boolean {
  const { metadata, ...rest } = withoutMembers(applied, UNOWNED);
  const decided = withoutMembers(metadata as Fields, UNOWNED_METADATA);
  const fields = Object.keys(decided).length === 0 ? rest : { ...rest, metadata: decided };
  return isFields(owned) && !isWhole(owned) && isSame(fields, live, { owned, whole, path: "" });
}

interface Place {
  readonly owned: unknown;
  readonly whole: WholeFields;
  readonly path: string;
}

function isSame(applied: unknown, live: unknown, place: Place): boolean {
  const { owned } = place;
  if (!isFields(owned) || applied === null) return false;
  if (isWhole(owned)) return isKnownWhole(applied, place) && isDeepStrictEqual(applied, live);
  if (Array.isArray(applied)) return Array.isArray(live) && isSameList(applied, live, place);
  return isFields(applied) && isFields(live) && isSameMap(applied, live, place);
}

/** Whether a value without owned members is owned as a whole. An empty one of which others own members differs. */
function isKnownWhole(applied: unknown, { whole, path }: Place): boolean {
  return typeof applied !== "object" || !ownsMembers(applied as object) || whole.has(applied, path);
}

function isSameMap(applied: Fields, live: Fields, { owned, whole, path }: Place): boolean {
  const fields = withoutMembers(owned as Owned, SELF);
  const members = Object.entries(applied);
  return (
    members.length === Object.keys(fields).length &&
    members.every(([name, value]) =>
      isSame(value, own(live, name), {
        owned: own(fields, `f:${name}`),
        whole,
        path: `${path}/${name}`,
      }),
    )
  );
}

/** The items that are applied are there in the same order, perhaps with those of others between them. */
function isSameList(
  applied: readonly unknown[],
  live: readonly unknown[],
  { owned, whole, path }: Place,
): boolean {
  const items = new Map(Object.entries(withoutMembers(owned as Owned, SELF)));
  if (applied.length !== items.size) return false;
  let last = -1;
  return applied.every((item) => {
    for (const [element, below] of items) {
      // A key with a default may be missing in the item.
      if (!hasKeys(item, element)) continue;
      const at = live.findIndex((one) => hasKeys(one, element, "all"));
      const isItem = element.startsWith("v:");
      const place = { owned: below, whole, path: `${path}/k` };
      if (at <= last || !(isItem || isSame(item, live[at], place))) continue;
      items.delete(element);
      last = at;
      return true;
    }
    return false;
  });
}

/** The entry of `fieldsV1` for a field itself. */
const SELF = new Set(["."]);

/** The item that was applied for an element. Undefined if others may be it: a key with a default may be missing. */
function itemOf(items: readonly unknown[], element: string, elements: readonly string[]): unknown {
  const found = items.filter((item) => hasKeys(item, element));
  const [item] = found;
  const isOnly = found.length === 1 && elements.filter((one) => hasKeys(item, one)).length === 1;
  return isOnly ? item : found.find((one) => hasKeys(one, element, "all"));
}

/** Whether an item of a list is the one of `v:VALUE` or `k:{KEY:VALUE}`. */
function hasKeys(item: unknown, element: string, which: "all" | "any" = "any"): boolean {
  if (!/^[kv]:/.test(element)) return false;
  const value: unknown = JSON.parse(element.slice(2));
  if (element.startsWith("v:")) return isDeepStrictEqual(item, value);
  if (!isFields(item)) return false;
  const keys = Object.entries(value as Fields);
  const present = keys.filter(([name]) => Object.hasOwn(item, name));
  return (
    present.length > 0 &&
    (which === "any" || present.length === keys.length) &&
    present.every(([name, key]) => isDeepStrictEqual(item[name], key))
  );
}

function isWhole(owned: Owned): boolean {
  return Object.keys(owned).length === 0;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function withoutMembers(fields: Fields, names: ReadonlySet<string>): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)));
}
