import { show } from "@holdfast/kit";
import { isObject, type JsonObject, own } from "@holdfast/kit/kubernetes";
import { fieldAt } from "../schema/crd.ts";

/** Greatest size of the annotation, in bytes. */
const MAX_BYTES = 16_384;

/** Fields that survive in an annotation; see {@link keepInAnnotation}. */
export class KeptFields {
  /** Paths of the fields. */
  readonly paths: readonly string[];

  /** @internal */
  constructor(paths: readonly string[]) {
    this.paths = paths;
    Object.freeze(this);
  }
}

/**
 * Fields that a version lacks, kept in an annotation of its objects while they are read and written in that version: the
 * option `keep` of a conversion.
 *
 * All fields of an object share one annotation, `GROUP/kept-fields`, of at most 16 KiB. A field that does not fit is lost,
 * and counted by `lost` of the resource. Users see the annotation. Whoever may write the object may change it, and no
 * schema checks its values.
 *
 * @param paths - of fields that only one of the two versions has, such as `.spec.retries`. Not below a list
 * @returns the option `keep`
 * @throws TypeError or RangeError that names the argument
 *
 * @example
 * ```ts
 * import { customResource, keepInAnnotation } from "@holdfast/kubernetes";
 * import { z } from "zod";
 *
 * const Mirror = customResource({
 *   group: "example.org", kind: "Mirror", plural: "mirrors",
 *   versions: {
 *     v1: { spec: z.object({ url: z.string() }) },
 *     v2: { spec: z.object({ url: z.string(), retries: z.int().optional() }) },
 *   },
 *   storage: "v2",
 *   convert: { v1: { keep: keepInAnnotation(".spec.retries") } },
 * });
 * const mirror = { apiVersion: "example.org/v2", kind: "Mirror", metadata: { name: "a" }, spec: { url: "u", retries: 3 } };
 * const { metadata, spec } = Mirror.convert(mirror, "v1");
 * console.log(metadata?.annotations?.["example.org/kept-fields"]); // => {".spec.retries":3}
 * console.log(spec.url, Mirror.convert(Mirror.convert(mirror, "v1"), "v2").spec.retries); // => u 3
 * ```
 */
export function keepInAnnotation(...paths: readonly string[]): KeptFields {
  if (paths.length === 0)
    throw new RangeError('paths must have at least one path such as ".spec.retries", got none');
  for (const [index, path] of paths.entries()) {
    const isPath = typeof path === "string" && /^\.(spec|status)(\.[^.[\]]+)+$/.test(path);
    if (!isPath)
      throw new RangeError(
        `paths[${index}] must be a path below .spec or .status and not below a list, such as ".spec.retries", got ${show(path)}`,
      );
    if (paths.indexOf(path) < index)
      throw new RangeError(`paths[${index}] must be there once, got ${show(path)} again`);
  }
  return new KeptFields([...paths]);
}

/** The fields that one version has and another lacks. */
export class Keeper {
  readonly #annotation: string;
  readonly #paths: readonly string[];

  /**
   * @param here - schema of the version that lacks the fields
   * @param there - schema of the version that has them
   */
  constructor(group: string, paths: readonly string[], here: JsonObject, there: JsonObject) {
    this.#annotation = `${group}/kept-fields`;
    this.#paths = paths.filter((path) => !fieldAt(here, path) && fieldAt(there, path));
  }

  /**
   * Writes the fields of `from` into the annotation of `to`, and removes an annotation that is not of them.
   *
   * @returns how many did not fit
   */
  keep(from: JsonObject, to: JsonObject): number {
    const annotations = annotationsOf(to);
    const kept: JsonObject = {};
    let lost = 0;
    for (const path of this.#paths) {
      const value = valueAt(from, path);
      if (value === undefined) continue;
      const text = JSON.stringify({ ...kept, [path]: value });
      if (new TextEncoder().encode(text).length <= MAX_BYTES) kept[path] = value;
      else lost += 1;
    }
    if (Object.keys(kept).length > 0) annotations[this.#annotation] = JSON.stringify(kept);
    else delete annotations[this.#annotation];
    setAnnotations(to, annotations);
    return lost;
  }

  /** Puts the fields of the annotation of `from` into `to`, without the annotation. */
  restore(from: JsonObject, to: JsonObject): void {
    const kept = parsed(annotationsOf(from)[this.#annotation]);
    const { [this.#annotation]: _, ...annotations } = annotationsOf(to);
    setAnnotations(to, annotations);
    for (const path of this.#paths) {
      const value = own(kept, path);
      if (value !== undefined) setAt(to, path.split(".").slice(1), value);
    }
  }
}

function annotationsOf(object: JsonObject): JsonObject {
  const { metadata } = object;
  const annotations = isObject(metadata) ? metadata["annotations"] : undefined;
  return isObject(annotations) ? { ...annotations } : {};
}

function setAnnotations(object: JsonObject, annotations: JsonObject): void {
  const { annotations: _, ...metadata } = object["metadata"] as JsonObject;
  const isEmpty = Object.keys(annotations).length === 0;
  object["metadata"] = isEmpty ? metadata : { ...metadata, annotations };
}

/** A user may have changed the text: what is no object of JSON has no fields. */
function parsed(text: unknown): JsonObject {
  try {
    const value: unknown = JSON.parse(String(text));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function valueAt(object: JsonObject, path: string): unknown {
  return path
    .split(".")
    .slice(1)
    .reduce<unknown>((at, name) => (isObject(at) ? own(at, name) : undefined), object);
}

/** Sets a field, unless a parent or the field is there with another value. A missing part stays missing. */
function setAt(object: JsonObject, [part = "", ...names]: readonly string[], value: unknown): void {
  let at = object[part];
  for (const [index, name] of names.entries()) {
    if (!isObject(at)) return;
    if (index === names.length - 1) at[name] ??= value;
    else at = at[name] ??= {};
  }
}

/** A path that no version lacks, or that neither has. */
export function requireKept(
  name: string,
  paths: readonly string[],
  one: JsonObject,
  other: JsonObject,
): void {
  for (const path of paths) {
    const count = [one, other].filter((schema) => fieldAt(schema, path) !== undefined).length;
    if (count !== 1)
      throw new RangeError(
        `${name} must name fields that one of the two versions has, got ${show(path)}, which ${count === 2 ? "both have" : "none has"}`,
      );
  }
}
