import {
  type Kinds,
  kind,
  read,
  requireArray,
  requireMethods,
  requireOptions,
  show,
  whole,
} from "@holdfast/kit";
import { requireResource } from "@holdfast/kit/kubernetes";
import type { Resource, VersionedResource, VersionOptions } from "@holdfast/kubernetes";
import * as fc from "fast-check";
import { isObject, type JsonObject, own, propertiesOf } from "../object/json.ts";
import { Failure } from "../server/failure.ts";
import { normalize } from "../server/resource/normalize.ts";
import { type ServedResource, servedResource } from "../server/resource/served-resource.ts";
import { requireValid } from "../server/write/validate.ts";
import { fieldDifferences } from "./difference.ts";
import { schemaArbitrary } from "./schema-arbitrary.ts";
import { specsOf } from "./specs-of.ts";

export const CONVERSIONS_OPTIONS: Kinds<ConversionsOptions> = {
  lossy: kind("lossyPaths", requirePaths),
  specs: kind("specsByVersion", requireSpecs),
  runs: whole(1),
  seed: whole(0),
};

/** Options for {@link conversionsOf}. */
export interface ConversionsOptions {
  /**
   * Paths of fields that a conversion may lose or change, such as `.spec.note` and `.spec.ports[].note`.
   *
   * @defaultValue none
   */
  readonly lossy?: readonly string[] | undefined;

  /**
   * Specs by version, for texts whose form the schema does not tell.
   *
   * @defaultValue `specsOf` each version
   */
  readonly specs?: Readonly<Record<string, fc.Arbitrary<unknown>>> | undefined;

  /**
   * Number of objects that are drawn for each check. An integer of at least 1.
   *
   * @defaultValue `100`
   */
  readonly runs?: number | undefined;

  /**
   * Seed of the objects. An integer of at least 0.
   *
   * @defaultValue `1`
   */
  readonly seed?: number | undefined;
}

/** What {@link conversionsOf} reads of a resource with versions. */
type Versions = VersionedResource<Readonly<Record<string, VersionOptions>>>;

/** One direction between the hub and another version. */
interface Way {
  readonly from: ServedResource;
  readonly to: ServedResource;
  readonly lossy: readonly string[];
  readonly convert: (
    object: JsonObject,
    version: string,
    onPruned?: (path: string) => void,
  ) => JsonObject;
}

/**
 * Checks the conversions of a custom resource with objects drawn from the schemas of its versions.
 *
 * | Check, from and to the hub | Fails for example if |
 * | --- | --- |
 * | every object converts | a function throws for a text that its schema allows |
 * | there and back loses nothing and adds nothing | the other version has no such field |
 * | every part of an object converts: the API server sends them in an apply | a function reads a field of a missing field |
 * | a part gets no field that the whole object does not get, and nothing is made from an empty part | a function fills in a default |
 * | the result is valid in its version | the other version has a lower limit |
 * | nothing of an answer is outside of the schema | a function passes a field on that the other version lacks |
 *
 * Needs the package `fast-check`. The same seed gives the same objects.
 *
 * @param resource - a resource of `customResource` with versions
 * @param options - see {@link ConversionsOptions}
 * @throws Error with the check, the versions, the field, and the smallest object for which it fails
 * @throws RangeError or TypeError that names the argument
 *
 * @example
 * ```ts
 * import { conversionsOf } from "@holdfast/fake-apiserver/fast-check";
 * import { customResource } from "@holdfast/kubernetes";
 * import { z } from "zod";
 *
 * const Mirror = customResource({
 *   group: "example.org", kind: "Mirror", plural: "mirrors",
 *   versions: {
 *     v1: { spec: z.object({ url: z.string() }) },
 *     v2: { spec: z.object({ url: z.string(), retries: z.int().min(0).max(9).optional() }) },
 *   },
 *   storage: "v2",
 *   convert: { v1: { toHub: () => ({}), fromHub: ({ spec: { url } }) => ({ spec: { url } }) } },
 * });
 * try {
 *   conversionsOf(Mirror);
 * } catch (error) {
 *   console.log(String(error).split("\n")[1]?.trim()); // => .spec.retries: 0 before, absent after
 * }
 * conversionsOf(Mirror, { lossy: [".spec.retries"] });
 * ```
 */
export function conversionsOf<Specs extends Readonly<Record<string, VersionOptions>>>(
  resource: VersionedResource<Specs>,
  options: ConversionsOptions = {},
): void {
  requireVersions(resource);
  const {
    lossy = [],
    specs = {},
    ...settings
  } = read("options", options, "conversionsOf", CONVERSIONS_OPTIONS);
  const { hub, convert } = resource as unknown as Versions;
  const names = versionsOf(resource.crd);
  requireKnown("options.specs", Object.keys(specs), names);
  const at = new Map(
    names.map((name) => [name, servedResource(own(resource as JsonObject, name) as Resource)]),
  );
  requireFields(lossy, [...at.values()]);
  const served = (name: string): ServedResource => at.get(name) as ServedResource;
  for (const spoke of names.filter((name) => name !== hub))
    for (const [from, to] of [
      [hub, spoke],
      [spoke, hub],
    ] as const) {
      const way = { from: served(from), to: served(to), lossy, convert } as unknown as Way;
      checkWay(way, objectsOf(way.from, specs[from]), settings);
    }
}

function checkWay(
  way: Way,
  objects: fc.Arbitrary<JsonObject>,
  { runs = 100, seed = 1 }: Pick<ConversionsOptions, "runs" | "seed">,
): void {
  const checks: readonly (readonly [fc.Arbitrary<JsonObject>, (drawn: JsonObject) => void])[] = [
    [objects, (whole) => checkWhole(way, whole)],
    [objects.chain(partOf) as fc.Arbitrary<JsonObject>, (part) => void there(way, part)],
    [
      objects.chain((whole) => fc.record({ whole: fc.constant(whole), part: partOf(whole) })),
      (both) => checkPart(way, both["whole"] as JsonObject, both["part"] as JsonObject),
    ],
  ];
  for (const [arbitrary, check] of checks) {
    const result = fc.check(fc.property(arbitrary, check), { numRuns: runs, seed });
    if (!result.failed) continue;
    const { errorInstance, counterexample } = result;
    const reason = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
    const drawn = `object: ${JSON.stringify(counterexample?.[0])}`;
    throw new Error([reason, drawn, `seed: ${seed}`].join("\n  "), { cause: errorInstance });
  }
  checkNothing(way);
}

/** An object without fields becomes one without fields: what is added here would be added to every part. */
function checkNothing(way: Way): void {
  const { apiVersion, kind } = way.from;
  const { spec, status } = there(way, {
    ...{ apiVersion, kind, metadata: { name: "a" } },
    ...{ spec: {}, status: {} },
  });
  const gained = [...pathsIn({ spec, status })].filter((path) => !PARTS.includes(path));
  if (gained.length > 0)
    fail(way, "adds a field to a part of an object", [
      `${gained.join(", ")}: made from an empty spec and status`,
    ]);
}

const PARTS: readonly string[] = [".spec", ".status"];

function there({ to, convert }: Way, object: JsonObject): JsonObject {
  return convert(object, versionIn(to));
}

function checkWhole(way: Way, whole: JsonObject): void {
  const { from, to, convert, lossy } = way;
  const unknown: string[] = [];
  const made = convert(whole, versionIn(to), (path) => unknown.push(path));
  const extra = unknown.filter((path) => !lossy.includes(path.replaceAll(/\[\d+\]/g, "[]")));
  if (extra.length > 0)
    fail(way, `answers with fields that ${versionIn(to)} lacks`, [`${extra.join(", ")}: removed`]);
  const back = convert(made, versionIn(from));
  const sides = { left: "before", right: "after" };
  const [before, after] = [whole, back].map((object) => withoutPaths(object, lossy));
  const changes = [...fieldDifferences(before, after, "", sides)].map((line) => `.${line}`);
  if (changes.length > 0) fail(way, "and back changes the object", changes);
  try {
    requireValid(to, made);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    fail(way, "makes an invalid object", [error.message]);
  }
}

function checkPart(way: Way, whole: JsonObject, part: JsonObject): void {
  const known = new Set(pathsIn(there(way, whole)));
  const gained = [...pathsIn(there(way, part))].filter((path) => !known.has(path));
  if (gained.length > 0)
    fail(way, "adds a field to a part of an object", [
      `${gained.join(", ")}: not in the whole object after the conversion`,
    ]);
}

function fail({ from, to }: Way, what: string, lines: readonly string[]): never {
  const title = `conversion of ${from.kind} from ${versionIn(from)} to ${versionIn(to)} ${what}`;
  const next = "mend the function or the schemas, or name in lossy what may go";
  throw new Error([title, ...lines, next].join("\n  "));
}

function versionIn({ apiVersion }: ServedResource): string {
  return apiVersion.split("/")[1] as string;
}

/** Valid objects of a version as its server has them: defaults are filled in. */
function objectsOf(
  served: ServedResource,
  specs: fc.Arbitrary<unknown> = specsOf(served.resource),
): fc.Arbitrary<JsonObject> {
  const { apiVersion, kind, schema = {} } = served;
  const status = own(propertiesOf(schema), "status");
  const statuses = isObject(status)
    ? fc.option(schemaArbitrary(status, { path: "", fields: {}, found: new Set() }), {
        nil: undefined,
      })
    : fc.constant(undefined);
  const texts = fc.constantFrom(undefined, { "example.org/own": "1" });
  const metadata = fc.record({ labels: texts, annotations: texts });
  return fc
    .record({ spec: specs, status: statuses, metadata })
    .map(({ spec, status, metadata: { labels, annotations } }) =>
      normalize(served, {
        ...{ apiVersion, kind, spec },
        metadata: {
          ...(served.resource.scope === "Namespaced" && { namespace: "default" }),
          ...{ name: "a", ...(labels && { labels }), ...(annotations && { annotations }) },
        },
        ...(status !== undefined && { status }),
      }),
    )
    .map(({ object }) => object)
    .filter((object) => isValid(served, object));
}

function isValid(served: ServedResource, object: JsonObject): boolean {
  try {
    requireValid(served, object);
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

/** Parts of an object as an apply sends them: some fields, now and then null, and always its names. */
function partOf({ apiVersion, kind, metadata, ...content }: JsonObject): fc.Arbitrary<JsonObject> {
  return someOf(content).map((part) => ({ apiVersion, kind, metadata, ...(part as object) }));
}

function someOf(value: unknown): fc.Arbitrary<unknown> {
  if (Array.isArray(value))
    return fc.subarray(value).chain((items) => fc.tuple(...items.map(someOf)));
  if (!isObject(value)) return fc.constant(value);
  return fc
    .subarray(Object.keys(value))
    .chain((names) =>
      fc
        .tuple(
          ...names.map((name) =>
            fc.oneof(
              { weight: 9, arbitrary: someOf(value[name]) },
              { weight: 1, arbitrary: fc.constant(null) },
            ),
          ),
        )
        .map((members) => Object.fromEntries(members.map((member, at) => [names[at], member]))),
    );
}

/** The paths of the fields of an object. Items of lists have none of their own. */
function* pathsIn(value: unknown, path = ""): Generator<string> {
  if (!isObject(value)) return;
  for (const [name, member] of Object.entries(value)) {
    yield `${path}.${name}`;
    yield* pathsIn(member, `${path}.${name}`);
  }
}

/** A copy of a value without the fields at some paths, such as `.spec.ports[].note`. */
function withoutPaths(value: unknown, paths: readonly string[], at = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutPaths(item, paths, `${at}[]`));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => !paths.includes(`${at}.${name}`));
  return Object.fromEntries(
    kept.map(([name, member]) => [name, withoutPaths(member, paths, `${at}.${name}`)]),
  );
}

function requireVersions(resource: object): void {
  requireOptions("resource", resource);
  const { hub, convert } = resource as { hub?: unknown; convert?: unknown };
  const first = own(resource as JsonObject, String(hub));
  if (typeof convert !== "function" || !isObject(first))
    throw new TypeError(
      "resource must be made by customResource with versions, got one without them",
    );
  requireResource(first as unknown as Resource);
}

function versionsOf(crd: object): string[] {
  const { versions } = (crd as { spec: { versions: { name: string }[] } }).spec;
  return versions.map(({ name }) => name);
}

function requireKnown(path: string, given: readonly string[], names: readonly string[]): void {
  const unknown = given.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new RangeError(
      `${path} must have names of versions (${names.join(", ")}), got ${show(unknown)}`,
    );
}

function requireFields(lossy: readonly string[], versions: readonly ServedResource[]): void {
  for (const [index, path] of lossy.entries())
    if (!versions.some(({ schema }) => hasField(schema, path)))
      throw new RangeError(
        `options.lossy[${index}] must name a field of one of the versions, got ${show(path)}`,
      );
}

function hasField(schema: JsonObject | undefined, path: string): boolean {
  let at: unknown = schema;
  for (const step of path.split(/\.|(?=\[)/).filter((name) => name !== "")) {
    if (!isObject(at)) return false;
    at = step === "[]" ? at["items"] : (own(propertiesOf(at), step) ?? at["additionalProperties"]);
  }
  return isObject(at);
}

function requirePaths(path: string, lossy: readonly unknown[]): void {
  requireArray(path, lossy);
  for (const [index, one] of lossy.entries())
    if (typeof one !== "string" || !one.startsWith("."))
      throw new RangeError(
        `${path}[${index}] must be a path such as ".spec.note", got ${show(one)}`,
      );
}

function requireSpecs(path: string, specs: NonNullable<ConversionsOptions["specs"]>): void {
  requireOptions(path, specs);
  for (const [name, arbitrary] of Object.entries(specs))
    requireMethods(`${path}.${name}`, arbitrary, ["generate", "shrink"]);
}
