import type { KubeObject, StoredObject } from "@holdfast/kubernetes";
import { isObject, type JsonObject, metadataOf, own, without } from "../object/json.ts";
import { nameOfStore, type StateSnapshot } from "./state/api-state.ts";

/** The objects of a server by a label such as `configmaps default/ann`, without what differs between two runs. */
export type NormalForm = ReadonlyMap<string, JsonObject>;

/** Changes an object before it is compared, or removes it from the comparison: returns undefined. */
export type Normalise = (object: StoredObject<KubeObject>) => object | undefined;

/** How to compare two runs. */
export interface NormalFormOptions {
  /** Start of the run: later times are the same time. In milliseconds since the epoch. */
  readonly start: number;

  /** Default: every object counts as it is. */
  readonly normalise?: Normalise | undefined;
}

/** Fields of the metadata that the server counts, draws or dates. */
const OF_THE_SERVER = [
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "managedFields",
  "selfLink",
];

/** Objects that tell of a run and not of its result. */
const ASIDE: ReadonlySet<string> = new Set([
  "/events",
  "events.k8s.io/events",
  "coordination.k8s.io/leases",
]);

/** A time in a text. */
export const TIME: RegExp = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;

interface Entry {
  /** Plural with its group, as in `deployments.apps`. */
  readonly resource: string;
  readonly key: string;
  readonly object: JsonObject;
}

/**
 * The objects of a server, comparable with those of another run. Left out: versions, generations, the time of
 * creation, managed fields, Events, Leases. Replaced: uids by the object that has them, generated names by their prefix,
 * times of the run by one word, `observedGeneration` by its distance from the generation.
 * Objects with generated names are numbered by their content, so their order does not matter.
 */
export function normalForm(
  snapshot: StateSnapshot,
  { start, normalise = (object) => object }: NormalFormOptions,
): NormalForm {
  const entries = entriesOf(snapshot);
  const rename = renaming(entries, start);
  const labelled = entries.flatMap(({ resource, key, object }): [string, JsonObject][] => {
    const given = structuredClone(object) as unknown as StoredObject<KubeObject>;
    const plain = normalise(given) as JsonObject | undefined;
    if (plain === undefined) return [];
    const metadata = without(metadataOf(plain), ...OF_THE_SERVER);
    const same = settled({ ...plain, metadata }, own(metadataOf(object), "generation"));
    return [[`${resource} ${rename(key)}`, rewritten(same, rename) as JsonObject]];
  });
  return numbered(labelled);
}

function entriesOf({ stores }: StateSnapshot): Entry[] {
  return [...stores].flatMap(([store, objects]) => {
    if (ASIDE.has(store)) return [];
    const resource = nameOfStore(store);
    return [...objects].map(([key, object]) => ({ resource, key, object }));
  });
}

/** Replaces in a text what the server made up: uids, generated names, times of the run. */
function renaming(entries: readonly Entry[], start: number): (text: string) => string {
  const labels = new Map<string, string>();
  for (const { object } of entries) {
    const { name, generateName } = metadataOf(object);
    if (typeof generateName === "string" && String(name).startsWith(generateName))
      labels.set(String(name), `${generateName}*`);
  }
  const named = (text: string): string => {
    for (const [made, label] of labels) text = text.replaceAll(made, label);
    return text;
  };
  const uids = entries.map(({ resource, key, object }): [string, string] => [
    String(own(metadataOf(object), "uid")),
    `<uid of ${resource} ${named(key)}>`,
  ]);
  return (text) => {
    let result = named(text);
    for (const [uid, label] of uids) result = result.replaceAll(uid, label);
    return result.replace(TIME, (time) => (Date.parse(time) >= start ? "<time>" : time));
  };
}

/** A value with new texts, and with its conditions, owners and finalizers in one order. */
export function rewritten(value: unknown, rename: (text: string) => string): unknown {
  if (typeof value === "string") return rename(value);
  if (Array.isArray(value)) return value.map((item) => rewritten(item, rename));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, member]): [string, unknown] => {
    const below = rewritten(member, rename);
    return [rename(name), UNORDERED.has(name) && Array.isArray(below) ? sorted(below) : below];
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const UNORDERED: ReadonlySet<string> = new Set(["conditions", "ownerReferences", "finalizers"]);

function sorted(list: readonly unknown[]): unknown[] {
  return list
    .map((item) => ({ item, text: JSON.stringify(item) }))
    .sort((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ item }) => item);
}

/** An object whose observed generations are replaced by their distance from its own. */
function settled(object: JsonObject, generation: unknown): JsonObject {
  const status = own(object, "status");
  if (!isObject(status) || typeof generation !== "number") return object;
  return { ...object, status: observed(status, generation) };
}

function observed(value: unknown, generation: number): unknown {
  if (Array.isArray(value)) return value.map((item) => observed(item, generation));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (name !== "observedGeneration" || typeof member !== "number")
        return [name, observed(member, generation)];
      return [name, member === generation ? "<current>" : `<${generation - member} behind>`];
    }),
  );
}

/** Objects by label. Labels that several have get a number, in the order of the contents. */
function numbered(labelled: readonly [string, JsonObject][]): NormalForm {
  const groups = new Map<string, JsonObject[]>();
  for (const [label, object] of labelled) groups.set(label, [...(groups.get(label) ?? []), object]);
  const entries = [...groups].flatMap(([label, group]): [string, JsonObject][] => {
    const objects = sorted(group) as JsonObject[];
    if (!label.endsWith("*")) return objects.map((object) => [label, object]);
    return objects.map((object, index) => [`${label} (${index + 1})`, object]);
  });
  return new Map(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
