import {
  anything,
  flag,
  func,
  type Kinds,
  kind,
  parsed,
  read,
  requireBoolean,
  required,
  requireFunction,
  requireOptions,
  requireText,
  show,
  text,
} from "@holdfast/kit";
import {
  type JsonObject,
  namespaceName,
  requireApiVersion,
  requireKind,
  requirePlural,
} from "@holdfast/kit/kubernetes";
import { Converter } from "../conversion/converter.ts";
import { KeptFields, requireKept } from "../conversion/kept-fields.ts";
import { crdOf, type KindOptions, type SchemaOptions, versionOf } from "../schema/crd.ts";
import { fieldDifferences } from "../schema/field-differences.ts";
import type { SchemaInput, SchemaOutput, StandardSchema } from "../schema/standard-schema.ts";
import type { KubeObject, PartialInput } from "./kube-object.ts";
import {
  type ConditionedStatus,
  type CustomObject,
  type Resource,
  type ResourceScope,
  requireScope,
} from "./resource.ts";

/** A version of a kind: its schema, and what is shown and checked by it. */
export interface VersionOptions extends SchemaOptions {
  /**
   * Whether clients may use the version. One that is not served still converts.
   *
   * @defaultValue `true`
   */
  readonly served?: boolean | undefined;

  /**
   * Whether the server warns clients that use the version. A text of 1 to 256 characters is the warning.
   *
   * @defaultValue `false`
   */
  readonly deprecated?: boolean | string | undefined;

  /** Description of the kind in this version, which `kubectl explain` shows. */
  readonly description?: string | undefined;
}

/** The Service by which the API server reaches the conversion. */
export interface ConversionService {
  /** Name of the Service. */
  readonly name: string;

  /** Its namespace. */
  readonly namespace: string;

  /**
   * Its port. Whole, from 1 to 65535.
   *
   * @defaultValue `443`
   */
  readonly port?: number | undefined;
}

/** Metadata in a conversion. Only labels and annotations of an answer count. */
export interface ConvertedMetadata {
  /** Name. */
  readonly name?: string | undefined;

  /** Namespace. */
  readonly namespace?: string | undefined;

  /** Labels. */
  readonly labels?: { [name: string]: string } | undefined;

  /** Annotations. */
  readonly annotations?: { [name: string]: string } | undefined;
}

/**
 * An object as a conversion gets it. The API server sends parts of objects too, so every field may be missing. `spec` and
 * `status` are always objects: empty ones if the object lacks them.
 */
export interface ConvertedObject<Spec, Status> {
  /** Metadata. */
  readonly metadata: ConvertedMetadata;

  /** The spec, or the part of it that was sent. A copy: the function may change it. */
  readonly spec: DeepPartial<Spec>;

  /** The status, or the part of it that was sent. A copy: the function may change it. */
  readonly status: DeepPartial<Status>;
}

/** `T` with every property optional, at every depth, in arrays too. */
export type DeepPartial<T> = T extends readonly (infer Item)[]
  ? DeepPartial<Item>[]
  : T extends object
    ? { [Key in keyof T]?: DeepPartial<T[Key]> | undefined }
    : T;

/** The answer of a conversion. A part that it leaves out goes through as it is. */
export interface ConversionAnswer<Spec, Status> {
  /** Labels and annotations of the object, all of them. Default: those that it has. */
  readonly metadata?: ConvertedMetadata | undefined;

  /** The spec. Default: the one given. */
  readonly spec?: PartialInput<Spec> | undefined;

  /** The status. Default: the one given. */
  readonly status?: PartialInput<Status> | undefined;
}

/** Converts between a version and the hub. */
export interface VersionConversion<Spec, Status, HubSpec, HubStatus> {
  /** Makes an object of the hub from one of this version. Synchronous. Default: every part goes through as it is. */
  readonly toHub?:
    | ((object: ConvertedObject<Spec, Status>) => ConversionAnswer<HubSpec, HubStatus>)
    | undefined;

  /** Makes an object of this version from one of the hub. Synchronous. Default: every part goes through as it is. */
  readonly fromHub?:
    | ((object: ConvertedObject<HubSpec, HubStatus>) => ConversionAnswer<Spec, Status>)
    | undefined;

  /** Fields that only one of the two versions has; see `keepInAnnotation`. Default: none, they are lost. */
  readonly keep?: KeptFields | undefined;
}

/** Type of the values of a schema as the server stores them. */
export type StoredBySchema<S> = S extends StandardSchema
  ? SchemaOutput<S>
  : Record<string, unknown>;

/** Type of the values of a schema as users write them. */
export type WrittenBySchema<S> = S extends StandardSchema
  ? SchemaInput<S>
  : Record<string, unknown>;

/** A version with a spec. */
export interface WithSpec<S> {
  /** Schema of the spec. */
  readonly spec: S;
}

/** A version with a status. */
export interface WithStatus<S> {
  /** Schema of the status. */
  readonly status: S;
}

/** Whether a version has the conditions. */
export type VersionHasConditions<V> = V extends {
  /** Whether the status has conditions. */ readonly conditions: true;
}
  ? true
  : false;

/** Type of the spec of a version. */
export type VersionSpec<V> =
  V extends WithSpec<infer S> ? StoredBySchema<S> : Record<string, unknown>;

/** Type of the status of a version. */
export type VersionStatus<V> = ConditionedStatus<
  V extends WithStatus<infer S> ? StoredBySchema<S> : never,
  VersionHasConditions<V>
>;

/** Type of the status of a version in a conversion. */
export type ConvertedStatus<V> = [VersionStatus<V>] extends [never]
  ? Record<string, never>
  : VersionStatus<V>;

/** The resource of a version. */
export type VersionResource<V> = Resource<
  CustomObject<VersionSpec<V>, VersionStatus<V>>,
  CustomObject<
    V extends WithSpec<infer S> ? WrittenBySchema<S> : Record<string, unknown>,
    ConditionedStatus<
      V extends WithStatus<infer S> ? WrittenBySchema<S> : never,
      VersionHasConditions<V>
    >
  >
> &
  Required<Pick<Resource, "crd">>;

/** Options for `customResource` with several versions. */
export interface VersionedResourceOptions<
  Versions extends Readonly<Record<string, VersionOptions>> = Readonly<
    Record<string, VersionOptions>
  >,
  Storage extends string = string,
  Hub extends string = string,
> extends Omit<KindOptions, "description"> {
  /** API group, for example `batch.example.org`. */
  readonly group: string;

  /** Kind, for example `CronTask`. */
  readonly kind: string;

  /** Plural of the kind in lower case, for example `crontasks`. */
  readonly plural: string;

  /**
   * Whether the objects belong to a namespace or to the cluster.
   *
   * @defaultValue `"Namespaced"`
   */
  readonly scope?: ResourceScope | undefined;

  /** The versions by name, such as `v1` and `v2beta1`. At least one, each with a `spec`. */
  readonly versions: Versions;

  /** Name of the version in which the server stores objects. */
  readonly storage: Storage & keyof Versions;

  /**
   * Name of the version over which all others convert. Another `storage` changes no code if the hub stays.
   *
   * @defaultValue that of `storage`
   */
  readonly hub?: (Hub & keyof Versions) | undefined;

  /**
   * The conversions of the versions besides the hub, by name. Only a version with the same fields as the hub may go
   * without.
   *
   * @defaultValue none: the server changes nothing but the version
   */
  readonly convert?:
    | {
        readonly [V in Exclude<keyof Versions, Hub>]?: VersionConversion<
          VersionSpec<Versions[V]>,
          ConvertedStatus<Versions[V]>,
          VersionSpec<Versions[Hub]>,
          ConvertedStatus<Versions[Hub]>
        >;
      }
    | undefined;

  /**
   * The Service by which the API server reaches the conversion.
   *
   * @defaultValue `{ name: "PLURAL-webhooks", namespace: "default" }`
   */
  readonly service?: ConversionService | undefined;
}

/** A kind with several versions, without the resources of its versions. */
export interface VersionedKind<Versions> {
  /** API group. */
  readonly group: string;

  /** Kind. */
  readonly kind: string;

  /** Name in paths. */
  readonly plural: string;

  /** Scope of the objects. */
  readonly scope: ResourceScope;

  /** Version in which the server stores objects. */
  readonly storage: keyof Versions & string;

  /** Version over which all others convert. */
  readonly hub: keyof Versions & string;

  /** The manifest, that of every version. Its conversion never has a `caBundle`. */
  readonly crd: object;

  /** Fields that `keepInAnnotation` has lost in this process, because they did not fit. */
  readonly lost: number;

  /**
   * Converts an object.
   *
   * @param object - of any version, whole or a part. It is not changed
   * @param version - name of the wanted version
   * @param onPruned - called with the path of each field that an answer has and its schema lacks, such as `.spec.more`
   * @returns the object in that version, without fields that its schema lacks. `object` itself if it has the version
   * @throws RangeError for an object of another kind, and for another version
   * @throws Error with kind, name and versions if a conversion throws
   */
  convert<V extends keyof Versions & string>(
    object: object,
    version: V,
    onPruned?: (path: string) => void,
  ): VersionResource<Versions[V]> extends Resource<infer T, KubeObject> ? T : never;
}

/** A kind with several versions, each a resource: `CronTask.v1`. Made by `customResource`. */
export type VersionedResource<Versions> = VersionedKind<Versions> & {
  readonly [V in keyof Versions]: VersionResource<Versions[V]>;
};

export const VERSIONED_RESOURCE_OPTIONS: Kinds<VersionedResourceOptions> = {
  group: required(parsed("group")),
  kind: required(parsed("kind")),
  plural: required(parsed("plural")),
  scope: parsed("scope"),
  shortNames: parsed("shortNames"),
  categories: parsed("categories"),
  versions: required(parsed("versions")),
  storage: required(parsed("storage")),
  hub: parsed("hub"),
  convert: parsed("convert"),
  service: parsed("service"),
};

export const VERSION_OPTIONS: Kinds<VersionOptions> = {
  spec: anything,
  status: anything,
  conditions: flag,
  rules: parsed("rules"),
  listKeys: anything,
  columns: parsed("columns"),
  scale: parsed("scale"),
  selectable: parsed("selectable"),
  served: flag,
  deprecated: kind("deprecation", requireDeprecation),
  description: anything,
};

export const CONVERSION_SERVICE: Kinds<ConversionService> = {
  name: required(text),
  namespace: required(namespaceName),
  port: kind("servicePort", requireServicePort),
};

export const VERSION_CONVERSION: Kinds<VersionConversion<unknown, unknown, unknown, unknown>> = {
  toHub: func,
  fromHub: func,
  keep: kind("keptFields", requireKeptFields),
};

type ConvertObject = (object: object, version: string, onPruned?: (path: string) => void) => object;

type Options = VersionedResourceOptions;

/** A kind with several versions. */
export function versionedResource(options: Options): VersionedResource<Options["versions"]> {
  const given = read("options", options, "customResource", VERSIONED_RESOURCE_OPTIONS);
  const { group, kind, plural, scope = "Namespaced", versions, storage, hub = storage } = given;
  const { convert = {}, service = { name: `${plural}-webhooks`, namespace: "default" } } = given;
  requireText("group", group);
  requireKind("kind", kind);
  requirePlural("plural", plural);
  requireScope(scope);
  requireOptions("versions", versions);
  const names = Object.keys(versions);
  for (const name of names) requireVersionName(group, name);
  requireOneOf("storage", storage, names);
  requireOneOf("hub", hub, names);
  const defined = names.map((name) => definedVersion(name, versions[name], name === storage));
  const schemas = new Map(defined.map(({ name, schema }) => [name, schema.openAPIV3Schema]));
  const conversions = conversionsOf(convert, schemas, hub);
  const converter = new Converter({
    ...{ group, kind, hub },
    versions: new Map(
      [...schemas].map(([name, schema]) => [name, { schema, ...conversions.get(name) }]),
    ),
  });
  const shared = { group, kind, plural, scope };
  const webhook = stanzaOf(service);
  const stanza = conversions.size > 0 ? webhook : { strategy: "None" };
  const crd = crdOf(shared, given, defined, stanza);
  const convertObject: ConvertObject = (object, version, onPruned) => {
    requireOptions("object", object);
    if (onPruned !== undefined) requireFunction("onPruned", onPruned);
    return converter.convert(object, version, onPruned);
  };
  const resources = names.map((version) => {
    const apiVersion = `${group}/${version}`;
    return [
      version,
      Object.freeze({ ...shared, apiVersion, version, crd, convert: convertObject }),
    ];
  });
  const all = { ...Object.fromEntries(resources), ...shared, storage, hub, crd };
  Object.defineProperty(all, "lost", { get: () => converter.lost, enumerable: true });
  return Object.freeze(Object.assign(all, { convert: convertObject }));
}

/** Members of a versioned resource, which no version can be named as. */
const MEMBERS = ["group", "kind", "plural", "scope", "storage", "hub", "crd", "lost", "convert"];

function requireVersionName(group: string, name: string): void {
  const path = `versions[${JSON.stringify(name)}]`;
  requireApiVersion(path, `${group}/${name}`);
  if (MEMBERS.includes(name))
    throw new RangeError(
      `${path} must not be named as a member of the resource (${MEMBERS.join(", ")}); use a name such as v1`,
    );
}

function requireOneOf(name: string, value: unknown, names: readonly string[]): void {
  if (names.includes(value as string)) return;
  throw new RangeError(
    `${name} must be one of the versions (${names.join(", ") || "none"}), got ${show(value)}`,
  );
}

function requireDeprecation(path: string, value: unknown): void {
  if (typeof value !== "string") requireBoolean(path, value as boolean);
  else if (value.length === 0 || value.length > 256)
    throw new RangeError(
      `${path} must be true, false or a text of 1 to 256 characters, got ${value.length} characters`,
    );
}

function requireServicePort(path: string, port: unknown): void {
  if (!Number.isInteger(port) || (port as number) < 1 || (port as number) > 65_535)
    throw new RangeError(`${path} must be a whole number from 1 to 65535, got ${show(port)}`);
}

function requireKeptFields(path: string, keep: unknown): void {
  if (!(keep instanceof KeptFields))
    throw new TypeError(`${path} must be made by keepInAnnotation, got ${show(keep)}`);
}

function definedVersion(name: string, options: VersionOptions | undefined, storage: boolean) {
  const at = `versions.${name}`;
  const given = read(at, options as VersionOptions, "customResource", VERSION_OPTIONS);
  if (given.spec === undefined)
    throw new RangeError(`${at}.spec is missing: each version needs a schema`);
  const { served = true, deprecated = false } = given;
  return {
    ...versionOf(name, given, `${at}.`),
    ...{ served, storage },
    ...(deprecated !== false && { deprecated: true }),
    ...(typeof deprecated === "string" && { deprecationWarning: deprecated }),
  };
}

type Conversion = VersionConversion<never, never, unknown, unknown>;

/** The conversions by version. Empty: the server changes the version alone. */
function conversionsOf(
  convert: object,
  schemas: ReadonlyMap<string, JsonObject>,
  hub: string,
): Map<string, Conversion> {
  requireOptions("convert", convert);
  const spokes = [...schemas.keys()].filter((name) => name !== hub);
  const found = new Map<string, Conversion>();
  for (const [name, conversion] of Object.entries(convert)) {
    if (!spokes.includes(name))
      throw new RangeError(
        `convert must name versions besides the hub (${spokes.join(", ") || "none"}), got ${show(name)}`,
      );
    if (conversion === undefined) continue;
    read(`convert.${name}`, conversion, "customResource", VERSION_CONVERSION);
    found.set(name, conversion as Conversion);
  }
  const main = schemas.get(hub) as JsonObject;
  for (const name of spokes) {
    const both = [schemas.get(name) as JsonObject, main] as const;
    requireWhole({ name, hub }, both, found.get(name));
  }
  return found;
}

/** Refuses half a conversion, and none where one is needed. */
function requireWhole(
  { name, hub }: { readonly name: string; readonly hub: string },
  both: readonly [JsonObject, JsonObject],
  { toHub, fromHub, keep }: Conversion = {},
): void {
  const kept = keep?.paths ?? [];
  requireKept(`convert.${name}.keep`, kept, ...both);
  if (toHub === undefined && fromHub === undefined) requireSameFields(name, hub, both, kept);
  else if (toHub === undefined || fromHub === undefined)
    throw new RangeError(
      `convert.${name} must have toHub and fromHub, or neither, got only ${toHub ? "toHub" : "fromHub"}`,
    );
}

function requireSameFields(
  name: string,
  hub: string,
  [spoke, main]: readonly [JsonObject, JsonObject],
  kept: readonly string[],
): void {
  for (const { path, reason } of fieldDifferences(spoke, main)) {
    if (
      kept.some((one) => path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`))
    )
      continue;
    const texts = {
      "only one": `only ${name} has ${path}`,
      "only other": `only ${hub} has ${path}`,
      differs: `${path || "the object"} has another type in ${hub}`,
    };
    throw new RangeError(
      `convert.${name} is missing: a version without it needs the same fields as the hub ${hub}, and ${texts[reason]}; give it toHub and fromHub, or name the field in keepInAnnotation`,
    );
  }
}

function stanzaOf(service: ConversionService): object {
  const { name, namespace, port } = read("service", service, "customResource", CONVERSION_SERVICE);
  const address = { namespace, name, path: "/convert", ...(port !== undefined && { port }) };
  return {
    strategy: "Webhook",
    webhook: { conversionReviewVersions: ["v1"], clientConfig: { service: address } },
  };
}
