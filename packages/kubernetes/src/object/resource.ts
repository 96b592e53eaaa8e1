import {
  anything,
  type Kinds,
  parsed,
  read,
  required,
  requireOptions,
  requireText,
  requireWord,
  show,
} from "@holdfast/kit";
import { requireApiVersion, requireKind, requirePlural } from "@holdfast/kit/kubernetes";
import { type CrdOptions, crdOf } from "../schema/crd.ts";
import type { SchemaInput, SchemaOutput, StandardSchema } from "../schema/standard-schema.ts";
import type { KubeObject, StatusCondition } from "./kube-object.ts";

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
  shortNames: parsed("shortNames"),
  categories: parsed("categories"),
  description: anything,
};

/** Options that only a resource with a schema can have. */
const OF_SCHEMA = [
  ...(["status", "conditions", "rules", "listKeys", "columns"] as const),
  ...(["shortNames", "categories", "description"] as const),
];

declare const objectType: unique symbol;

/** Whether the objects of a resource belong to a namespace or to the cluster. */
export type ResourceScope = "Namespaced" | "Cluster";

/**
 * A kind of objects, and the path under which the server has them. Made by {@link customResource},
 * {@link fromCrd} or {@link builtIn}.
 *
 * @typeParam T - the objects as the server stores them
 * @typeParam Written - the objects as users write them: fields with a default may be missing
 */
export interface Resource<T extends KubeObject = KubeObject, Written extends KubeObject = T> {
  /** API version, for example `apps/v1` or `v1`. */
  readonly apiVersion: string;

  /** API group, for example `apps`. Empty for the core group. */
  readonly group: string;

  /** Version within the group, for example `v1`. */
  readonly version: string;

  /** Kind, for example `Deployment`. */
  readonly kind: string;

  /** Name in paths, for example `deployments`. */
  readonly plural: string;

  /** Scope of the objects. */
  readonly scope: ResourceScope;

  /** The manifest that {@link fromCrd} was given, or that {@link customResource} made of schemas. */
  readonly crd?: object;

  /** Whether its objects have their metadata alone; see {@link metadataOf}. */
  readonly metadataOnly?: boolean;

  /** Carries the types. Never set. */
  readonly [objectType]?: readonly [stored: T, written: Written];
}

/** Type of the objects of a resource: `CachedObject<ObjectOf<typeof CronTask>>` is that of a cache. */
export type ObjectOf<R extends Resource<KubeObject, KubeObject>> =
  R extends Resource<infer T, KubeObject> ? T : never;

/** An object of a custom resource. */
export interface CustomObject<Spec, Status = never> extends KubeObject {
  /** The state that users want. */
  spec: Spec;

  /** The state that is. Missing until an operator has written it. */
  status?: Status | undefined;
}

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

/** A status with conditions, if a resource declares them. */
export type ConditionedStatus<Status, Conditions extends boolean> = Conditions extends true
  ? ([Status] extends [never] ? unknown : Status) & {
      /** The conditions, one of each type. */
      conditions?: readonly StatusCondition[] | undefined;
    }
  : Status;

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
 * console.log(CronTask.crd !== undefined); // => true
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
>;

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
export function customResource<T extends KubeObject>(options: CustomResourceOptions): Resource<T>;

export function customResource(options: CustomResourceOptions): Resource {
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
  requireWord("scope", scope, "Namespaced", "Cluster");
  const names = { apiVersion, group, version, kind, plural, scope };
  if (given.spec !== undefined) return Object.freeze({ ...names, crd: crdOf(names, given) });
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
export function fromCrd<T extends KubeObject>(crd: object, version?: string): Resource<T> {
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
