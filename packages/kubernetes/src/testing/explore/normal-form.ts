import type { KubeObject, StoredObject } from "../../object/kube-object.ts";

type Stored = StoredObject<KubeObject>;

/** Changes an object before it is compared, or removes it from the comparison: returns undefined. */
export type Normalise = (object: StoredObject<KubeObject>) => object | undefined;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/**
 * The objects without the parts that differ from run to run: UIDs, versions, generations, times, managed fields, and
 * generated names. By kind and name; objects with generated names are an array under their prefix and owner.
 */
export function normalForm(
  objects: readonly Stored[],
  normalise: Normalise,
): Record<string, unknown> {
  const names = new Map<string, string>();
  const byUid = new Map<string, string>();
  for (const object of objects) {
    const { name, uid } = object.metadata;
    const prefix = prefixOf(object);
    if (prefix !== undefined) names.set(name, `${prefix}*`);
    byUid.set(uid, titleOf(object));
  }
  const form: Record<string, unknown> = {};
  const generated = new Map<string, unknown[]>();
  for (const object of objects) {
    const given = normalise(structuredClone(object));
    if (given === undefined) continue;
    const plain = plainOf(given, object, { names, byUid });
    if (prefixOf(object) === undefined) form[titleOf(object)] = plain;
    else {
      const owner =
        object.metadata.ownerReferences?.map(({ name }) => ` of ${name}`).join("") ?? "";
      const title = `${titleOf(object)}${owner}`;
      generated.set(title, [...(generated.get(title) ?? []), plain]);
    }
  }
  for (const [title, group] of generated)
    form[title] = group.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return Object.fromEntries(Object.entries(form).sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface Names {
  /** Generated names, and their prefixes. */
  readonly names: ReadonlyMap<string, string>;
  /** Objects by their UID. */
  readonly byUid: ReadonlyMap<string, string>;
}

function titleOf(object: Stored): string {
  const { namespace, name } = object.metadata;
  const prefix = prefixOf(object);
  const shown = prefix === undefined ? name : `${prefix}*`;
  return `${object.kind} ${namespace === undefined ? shown : `${namespace}/${shown}`}`;
}

function prefixOf({ metadata }: Stored): string | undefined {
  const { generateName, name } = metadata;
  return generateName !== undefined && name.startsWith(generateName) ? generateName : undefined;
}

const METADATA = ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"];

function plainOf(given: object, { metadata }: Stored, names: Names): unknown {
  const walk = (value: unknown, name: string): unknown => {
    if (Array.isArray(value)) return value.map((part) => walk(part, ""));
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(
        Object.entries(value).map(([own, part]) => [own, walk(part, own)] as const),
      );
    if (name === "observedGeneration" && value === metadata.generation) return "(current)";
    return typeof value === "string" ? textOf(value, name, names) : value;
  };
  const { metadata: own = {}, ...rest } = given as Partial<Stored>;
  const kept = Object.entries(own).filter(([name]) => !METADATA.includes(name));
  return walk({ metadata: Object.fromEntries(kept), ...rest }, "");
}

function textOf(value: string, name: string, { names, byUid }: Names): string {
  if (name === "uid") return byUid.get(value) ?? "(no object)";
  return TIME.test(value) ? "(time)" : (names.get(value) ?? value);
}
