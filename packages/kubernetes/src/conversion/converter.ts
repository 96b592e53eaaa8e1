import { show } from "@holdfast/kit";
import { isObject, type JsonObject, own, propertiesOf } from "@holdfast/kit/kubernetes";
import { type OnPruned, pruned, withoutNulls } from "../schema/prune.ts";
import { Keeper } from "./kept-fields.ts";

/** The parts of an object that versions have differently. */
const PARTS = ["spec", "status"] as const;

/** A function of the user, from one version to another. */
type ConvertPart = (object: never) => unknown;

/** A version as a {@link Converter} needs it. */
interface ConvertedVersion {
  readonly schema: JsonObject;
  readonly toHub?: ConvertPart | undefined;
  readonly fromHub?: ConvertPart | undefined;
  readonly keep?: { readonly paths: readonly string[] } | undefined;
}

/** A kind with its versions, by name. */
interface ConvertedKind {
  readonly group: string;
  readonly kind: string;
  readonly hub: string;
  readonly versions: ReadonlyMap<string, ConvertedVersion>;
}

/** One step, from the hub or to it. */
interface Step {
  readonly from: string;
  readonly to: string;
  /** The one of both that is not the hub: it has the functions. */
  readonly spoke: string;
  readonly onPruned: OnPruned | undefined;
}

/** Converts the objects of a kind: over the hub, and with no more of the user's code than the change of the parts. */
export class Converter {
  readonly #kind: ConvertedKind;

  /** Fields that did not fit into the annotation so far. */
  lost = 0;

  constructor(kind: ConvertedKind) {
    this.#kind = kind;
  }

  convert(object: object, version: string, onPruned?: OnPruned): object {
    const { group, kind, hub, versions } = this.#kind;
    const given = object as JsonObject;
    const { apiVersion } = given;
    const from = [...versions.keys()].find((name) => apiVersion === `${group}/${name}`);
    const names = [...versions.keys()].map((name) => `${group}/${name}`).join(", ");
    if (given["kind"] !== kind || from === undefined)
      throw new RangeError(
        `object must be a ${kind} of ${names}, got ${show(given["kind"])} of ${show(apiVersion)}`,
      );
    if (!versions.has(version))
      throw new RangeError(
        `version must be one of ${[...versions.keys()].join(", ")}, got ${show(version)}`,
      );
    if (from === version) return object;
    let result = given;
    if (from !== hub) result = this.#step(result, { from, to: hub, spoke: from, onPruned });
    if (version === hub) return result;
    return this.#step(result, { from: hub, to: version, spoke: version, onPruned });
  }

  #step(object: JsonObject, step: Step): JsonObject {
    try {
      return this.#stepped(object, step);
    } catch (error) {
      const { namespace, name } = isObject(object["metadata"]) ? object["metadata"] : {};
      const key = [namespace, name].filter((one) => typeof one === "string").join("/");
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(
        `${this.#kind.kind} ${key || "without a name"} of ${step.from} cannot be converted to ${step.to}: ${reason}`,
        { cause: error },
      );
    }
  }

  #stepped(object: JsonObject, { from, to, spoke, onPruned }: Step): JsonObject {
    const { group, versions } = this.#kind;
    const at = (name: string): ConvertedVersion => versions.get(name) as ConvertedVersion;
    const { toHub, fromHub, keep } = at(spoke);
    const [before, after] = [at(from).schema, at(to).schema];
    const [door, convert] = spoke === from ? ["toHub", toHub] : ["fromHub", fromHub];
    const changed = changedBy(convert, object, before, `${door} of ${spoke}`);
    const whole = { ...after, "x-kubernetes-embedded-resource": true };
    const prune = (value: JsonObject, onPruned?: OnPruned): JsonObject =>
      pruned(value, whole, onPruned) as JsonObject;
    const apiVersion = `${group}/${to}`;
    if (keep === undefined) return prune({ ...object, ...changed, apiVersion }, onPruned);
    const { paths } = keep;
    const result = prune({ ...object, ...changed, apiVersion }, (path) => {
      if (!paths.includes(path)) onPruned?.(path);
    });
    new Keeper(group, paths, before, after).restore(object, result);
    this.lost += new Keeper(group, paths, after, before).keep(object, result);
    return prune(result);
  }
}

/** The parts of an object, and its metadata, as a function of the user makes them. */
function changedBy(
  convert: ConvertPart | undefined,
  object: JsonObject,
  schema: JsonObject,
  name: string,
): JsonObject {
  const metadata = isObject(object["metadata"]) ? object["metadata"] : {};
  const given: JsonObject = { metadata: structuredClone(metadata) };
  for (const part of PARTS) given[part] = partIn(object, part, schema);
  const must = `${name} must return an object with a spec, a status or metadata`;
  const answer = convert === undefined ? {} : objectOf(convert(given as never), must);
  const result: JsonObject = { metadata: metadataOf(metadata, answer["metadata"], name) };
  for (const part of PARTS)
    if (isObject(object[part])) {
      const made = answer[part] === undefined ? given[part] : answer[part];
      result[part] = objectOf(made, `${name} must return ${part} as an object`);
    }
  return result;
}

/** A copy of a part for the user: an object, without null where the schema does not allow it. */
function partIn(object: JsonObject, part: string, schema: JsonObject): JsonObject {
  const value = objectOf(object[part] ?? {}, `its ${part} must be an object`);
  const found = own(propertiesOf(schema), part);
  return isObject(found) ? (withoutNulls(value, found) as JsonObject) : value;
}

/** The metadata with the labels and annotations of an answer. The rest of it never changes. */
function metadataOf(metadata: JsonObject, answer: unknown, name: string): JsonObject {
  if (answer === undefined) return metadata;
  const given = objectOf(answer, `${name} must return metadata as an object`);
  const { labels: _, annotations: __, ...rest } = metadata;
  for (const field of ["labels", "annotations"]) {
    const must = `${name} must return metadata.${field} as an object of texts`;
    const texts = objectOf(given[field] ?? {}, must);
    for (const [key, text] of Object.entries(texts))
      if (typeof text !== "string") throw new TypeError(`${must}, got ${typeOf(text)} for ${key}`);
    if (Object.keys(texts).length > 0) rest[field] = { ...texts };
  }
  return rest;
}

/** An object of the user. Errors show no values: a spec may hold secrets. */
function objectOf(value: unknown, must: string): JsonObject {
  if (isObject(value) && typeof value["then"] !== "function") return value;
  throw new TypeError(`${must}, got ${typeOf(value)}`);
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  return isObject(value) ? "a promise: a conversion is synchronous" : `a ${typeof value}`;
}
