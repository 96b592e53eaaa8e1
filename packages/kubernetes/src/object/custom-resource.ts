import {
  anything,
  type Kinds,
  parsed,
  read,
  required,
  requireOptions,
  requireText,
  show,
} from "@holdfast/kit";
import { requireApiVersion, requireKind, requirePlural } from "@holdfast/kit/kubernetes";
import { type CrdOptions, crdOf, versionOf } from "../schema/crd.ts";
import type { SchemaInput, SchemaOutput, StandardSchema } from "../schema/standard-schema.ts";
import type { KubeObject } from "./kube-object.ts";
import {
  type ConditionedStatus,
  type CustomObject,
  type Resource,
  type ResourceScope,
  requireScope,
} from "./resource.ts";
import {
  type VersionedResource,
  type VersionedResourceOptions,
  type VersionOptions,
  versionedResource,
} from "./versioned-resource.ts";

/** Errors call the options by their names alone: those of a manifest are checked too. */
export const CUSTOM_RESOURCE_OPTIONS: Kinds<CustomResourceOptions> = {
  apiVersion: required(parsed("apiVersion")),
  kind: required(parsed("kind")),
  plural: required(parsed("plural")),
  scope: parsed("scope"),
  spec: anything,
  status: anything,
  conditions: parsed("conditions"),
  rules: parsed("rules"),
  listKeys: anything,
  columns: parsed("columns"),
  scale: parsed("scale"),
  selectable: parsed("selectable"),
  shortNames: parsed("shortNames"),
  categories: parsed("categories"),
  description: anything,
};

/** Options that only a resource with a schema can have. */
const OF_SCHEMA = [
  ...(["status", "conditions", "rules", "listKeys", "columns"] as const),
  ...(["scale", "selectable"] as const),
  ...(["shortNames", "categories", "description"] as const),
];

/** Options for {@link customResource}. */
export interface CustomResourceOptions extends CrdOptions {
  /** API version with its group, for example `example.org/v1`. */
  readonly apiVersion: string;

  /** Kind, for example `Greeting`. */
  readonly kind: string;

  /** Plural of the kind in lower case, for example `greetings`. */
  readonly plural: string;

  /**
   * Whether the objects belong to a namespace or to the cluster.
   *
   * @defaultValue `"Namespaced"`
   */
  readonly scope?: ResourceScope | undefined;
}

/** Options for {@link customResource} with schemas that carry types. */
export interface TypedResourceOptions<
  Spec extends StandardSchema,
  Status extends StandardSchema = never,
  Conditions extends boolean = false,
> extends CustomResourceOptions {
  /** Schema of the spec. */
  readonly spec: Spec;

  /** Schema of the status. Default: no status. */
  readonly status?: Status | undefined;

  /**
   * Whether the status has `conditions`, as `setCondition` makes them.
   *
   * @defaultValue `false`
   */
  readonly conditions?: Conditions | undefined;
}

/**
 * A custom resource from schemas: its types and its CustomResourceDefinition follow.
 *
 * The types: `create` and `apply` take what users write, where a field with a default may be missing; `get` and
 * caches return what the server stores. `crd` is the manifest, for `ensureCrd`, for `FakeApi`, and for a file.
 *
 * A server checks the schema, and fills in defaults. It runs no code: a schema that transforms values is refused here,
 * and a refinement is not seen. Write a rule in CEL for it.
 *
 * @param options - see {@link CustomResourceOptions}
 * @returns the resource, with its manifest as `crd`
 * @throws TypeError or RangeError for a name that Kubernetes does not allow, and for a schema that a
 * CustomResourceDefinition cannot express: with the path, the reason, and what to write instead
 *
 * @example
 * ```ts
 * import { customResource } from "@holdfast/kubernetes";
 * import { z } from "zod";
 *
 * const CronTask = customResource({
 *   apiVersion: "batch.example.org/v1", kind: "CronTask", plural: "crontasks",
 *   spec: z.object({
 *     schedule: z.string().min(1).describe("Five fields, as in crontab(5)"),
 *     concurrencyPolicy: z.enum(["Allow", "Forbid", "Replace"]).default("Allow"),
 *   }),
 *   status: z.object({ active: z.array(z.string()) }),
 *   rules: [{ rule: "self.spec.schedule.size() < 100", message: "schedule is too long" }],
 *   columns: [{ name: "Schedule", path: ".spec.schedule" }],
 * });
 * console.log("spec" in CronTask.crd); // => true
 * ```
 */
export function customResource<
  Spec extends StandardSchema,
  Status extends StandardSchema = never,
  Conditions extends boolean = false,
>(
  options: TypedResourceOptions<Spec, Status, Conditions>,
): Resource<
  CustomObject<SchemaOutput<Spec>, ConditionedStatus<SchemaOutput<Status>, Conditions>>,
  CustomObject<SchemaInput<Spec>, ConditionedStatus<SchemaInput<Status>, Conditions>>
> &
  Required<Pick<Resource, "crd">>;

/**
 * A custom resource, by the names in its CustomResourceDefinition, with a type of one's own. A `spec` that is a JSON
 * schema makes the manifest, but no type.
 *
 * @param options - see {@link CustomResourceOptions}
 * @returns the resource
 * @throws TypeError or RangeError for a name that Kubernetes does not allow
 *
 * @example
 * ```ts
 * import { customResource, type KubeObject } from "@holdfast/kubernetes";
 *
 * interface GreetingObject extends KubeObject {
 *   spec: { name: string };
 *   status?: { text: string };
 * }
 * const Greeting = customResource<GreetingObject>({
 *   apiVersion: "example.org/v1", kind: "Greeting", plural: "greetings",
 * });
 * console.log(Greeting.group, Greeting.scope); // => example.org Namespaced
 * ```
 */
export function customResource<T extends KubeObject>(
  options: CustomResourceOptions & Required<Pick<CustomResourceOptions, "spec">>,
): Resource<T> & Required<Pick<Resource, "crd">>;
export function customResource<T extends KubeObject>(options: CustomResourceOptions): Resource<T>;

/**
 * A custom resource in several versions, and the conversions between them. Each version is a resource; the manifest has
 * them all.
 *
 * An API server stores objects in one version and asks the operator for the others. Metadata goes through by itself. The
 * functions get `spec` and `status`, of which each field may be missing, and answer with the same: fields that the schema
 * of the wanted version lacks are removed from the answer. A part that is missing or null stays so.
 *
 * @param options - see {@link VersionedResourceOptions}
 * @returns the versions by name, with the manifest as `crd`, and `convert`
 * @throws TypeError or RangeError that names the option; also for a version without a conversion that has other fields than
 * the hub, with the first such field
 *
 * @example
 * ```ts
 * import { customResource } from "@holdfast/kubernetes";
 * import { z } from "zod";
 *
 * const Website = customResource({
 *   group: "example.org", kind: "Website", plural: "websites",
 *   versions: {
 *     v1: { spec: z.object({ address: z.string() }) },
 *     v2: { spec: z.object({ host: z.string(), port: z.int() }) },
 *   },
 *   storage: "v1", hub: "v2",
 *   convert: {
 *     v1: {
 *       toHub({ spec: { address } }) {
 *         const [host, port] = address?.split(":") ?? [];
 *         return { spec: { host, port: port === undefined ? port : Number(port) } };
 *       },
 *       fromHub: ({ spec: { host, port } }) => ({ spec: { address: host && `${host}:${port}` } }),
 *     },
 *   },
 * });
 * const site = { apiVersion: "example.org/v1", kind: "Website", metadata: { name: "a" }, spec: { address: "a.example:80" } };
 * console.log(Website.convert(site, "v2").spec); // => { host: 'a.example', port: 80 }
 * console.log(Website.v2.apiVersion); // => example.org/v2
 * ```
 */
export function customResource<
  Versions extends Readonly<Record<string, VersionOptions>>,
  Storage extends keyof Versions & string,
  Hub extends keyof Versions & string = Storage,
>(options: VersionedResourceOptions<Versions, Storage, Hub>): VersionedResource<Versions>;

export function customResource(options: CustomResourceOptions | VersionedResourceOptions): unknown {
  if (isVersioned(options)) return versionedResource(options);
  return oneVersion(options);
}

function isVersioned(options: object | undefined): options is VersionedResourceOptions {
  return typeof options === "object" && options !== null && Object.hasOwn(options, "versions");
}

function oneVersion(options: CustomResourceOptions): Resource {
  const given = read("options", options, "customResource", CUSTOM_RESOURCE_OPTIONS);
  const { apiVersion, kind, plural, scope = "Namespaced" } = given;
  requireApiVersion("apiVersion", apiVersion);
  const [group, version] = apiVersion.split("/");
  if (group === undefined || version === undefined)
    throw new RangeError(
      `apiVersion of a custom resource must have a group, as in "example.org/v1", got "${apiVersion}"`,
    );
  requireKind("kind", kind);
  requirePlural("plural", plural);
  requireScope(scope);
  const names = { apiVersion, group, version, kind, plural, scope };
  if (given.spec !== undefined)
    return Object.freeze({ ...names, crd: crdOf(names, given, [versionOf(version, given)]) });
  for (const name of OF_SCHEMA)
    if (given[name] !== undefined)
      throw new RangeError(`${name} needs a spec: without one the resource has no manifest`);
  return Object.freeze(names);
}

/** The part of a CustomResourceDefinition (`apiextensions.k8s.io/v1`) that {@link fromCrd} reads. */
interface CrdManifest {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly spec?: {
    readonly group?: string;
    readonly scope?: unknown;
    readonly names?: { readonly kind?: unknown; readonly plural?: unknown };
    readonly versions?: readonly CrdVersion[];
  };
}

interface CrdVersion {
  readonly name?: unknown;
  readonly served?: unknown;
  readonly storage?: unknown;
}

/**
 * A custom resource, by its manifest, so that names stand in one place.
 *
 * @param crd - CustomResourceDefinition of `apiextensions.k8s.io/v1`, as an object
 * @param version - one of its served versions. Default: the stored one
 * @returns the resource. A `FakeApi` with it knows the schema of the manifest
 * @throws TypeError if `crd` is not such a manifest
 * @throws RangeError if `version` is not served
 *
 * @example
 * ```ts
 * import { fromCrd } from "@holdfast/kubernetes";
 *
 * const Greeting = fromCrd({
 *   apiVersion: "apiextensions.k8s.io/v1",
 *   kind: "CustomResourceDefinition",
 *   metadata: { name: "greetings.example.org" },
 *   spec: {
 *     group: "example.org", scope: "Namespaced",
 *     names: { kind: "Greeting", plural: "greetings", singular: "greeting" },
 *     versions: [{ name: "v1", served: true, storage: true }],
 *   },
 * });
 * console.log(Greeting.apiVersion, Greeting.plural); // => example.org/v1 greetings
 * ```
 */
export function fromCrd<T extends KubeObject>(
  crd: object,
  version?: string,
): Resource<T> & Required<Pick<Resource, "crd">> {
  requireOptions("crd", crd);
  const { apiVersion, kind, spec } = crd as CrdManifest;
  if (apiVersion !== "apiextensions.k8s.io/v1" || kind !== "CustomResourceDefinition")
    throw new TypeError(
      `crd must be a CustomResourceDefinition of apiextensions.k8s.io/v1, got kind ${show(kind)} of ${show(apiVersion)}`,
    );
  if (!Array.isArray(spec?.versions)) throw new TypeError("crd must have spec.versions, an array");
  requireText("spec.group of crd", spec.group);
  const resource = customResource<T>({
    apiVersion: `${spec.group}/${versionName(spec.versions, version)}`,
    kind: spec.names?.kind as string,
    plural: spec.names?.plural as string,
    scope: spec.scope as ResourceScope,
  });
  return Object.freeze({ ...resource, crd });
}

function versionName(versions: readonly CrdVersion[], wanted: string | undefined): string {
  const served = versions.filter((version) => version.served === true);
  const found =
    wanted === undefined
      ? (served.find((version) => version.storage === true) ?? served[0])
      : served.find((version) => version.name === wanted);
  if (typeof found?.name === "string") return found.name;
  const names = served.map((version) => String(version.name)).join(", ");
  throw new RangeError(
    `version must be one that the crd serves (${names || "it serves none"}), got ${show(wanted)}`,
  );
}
