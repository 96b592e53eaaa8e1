import { builtIn, fromCrd, type Resource } from "@holdfast/kubernetes";
import {
  builtInRootType,
  type FieldType,
  schemaRootType,
} from "../../managed-fields/field-type.ts";
import { isObject, type JsonObject, own } from "../../object/json.ts";
import { columnsOf, type TableColumn } from "./table.ts";

/** A resource, and how the server behaves for it. */
export interface ServedResource {
  readonly resource: Resource;
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
  readonly isBuiltIn: boolean;

  /** Names of the store that holds the objects of every version. */
  readonly storeKey: string;

  /** Name of the kind in lower case, for discovery. */
  readonly singular: string;

  readonly shortNames: readonly string[];
  readonly categories: readonly string[];

  /** Kind of a list. */
  readonly listKind: string;

  /** OpenAPI schema of a custom resource, if its manifest has one. */
  readonly schema: JsonObject | undefined;

  /** How an apply merges objects. */
  readonly fieldType: FieldType;

  /**
   * The API versions of the manifest, also those that are not served, with how an apply merges their objects. Undefined:
   * any version, as without a manifest.
   */
  readonly versions: ReadonlyMap<string, FieldType> | undefined;

  /** The version that is stored. Undefined: this one. */
  readonly storage: StoredVersion | undefined;

  /** Converts an object to a version. Undefined: objects keep the fields that both versions have. */
  readonly convert: Convert | undefined;

  /** Paths of the fields by which lists select objects, as in `spec.color`. */
  readonly selectable: readonly string[];

  /** Paths of the subresource `scale`. Undefined: there is none. */
  readonly scale: ScalePaths | undefined;

  /** Warning about a deprecated version. */
  readonly deprecation: string | undefined;

  /** Columns of a table, for people. */
  readonly columns: readonly TableColumn[];

  /** Whether `status` is a subresource, apart from the rest. */
  readonly hasStatus: boolean;

  /** Whether objects have `metadata.generation`. */
  readonly hasGeneration: boolean;

  /** Whether a PUT of a missing object creates it. */
  readonly canPutNew: boolean;

  /** Whether a PUT may come without a version. */
  readonly canPutBlindly: boolean;
}

/**
 * The conversion of a resource with versions.
 *
 * @param version - name of the version, as in `v2`
 * @throws an error if the object does not convert
 */
export type Convert = (object: JsonObject, version: string) => JsonObject;

/** The version in which objects are stored. */
interface StoredVersion {
  readonly apiVersion: string;
  readonly schema: JsonObject | undefined;
}

/** Names of fields from the object on. */
export interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  readonly selector: readonly string[] | undefined;
}

/** Built-in kinds without a status. */
const WITHOUT_STATUS: ReadonlySet<string> = new Set(
  "ClusterRole ClusterRoleBinding ConfigMap ControllerRevision CSIDriver CSINode CSIStorageCapacity DeviceClass EndpointSlice Endpoints Event IngressClass Lease LimitRange MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration NetworkPolicy PodTemplate PriorityClass ResourceClaimTemplate ResourceSlice Role RoleBinding RuntimeClass Secret ServiceAccount StorageClass ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration VolumeAttributesClass".split(
    " ",
  ),
);

/** Built-in kinds whose objects have a generation. */
const WITH_GENERATION: ReadonlySet<string> = new Set(
  "CronJob CustomResourceDefinition DaemonSet Deployment EndpointSlice FlowSchema Ingress IngressClass Job MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration NetworkPolicy Pod PodDisruptionBudget PriorityLevelConfiguration ReplicaSet ReplicationController ResourceSlice StatefulSet ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration".split(
    " ",
  ),
);

/** Short names that kubectl users type. */
const SHORT_NAMES: Readonly<Record<string, readonly string[]>> = {
  ConfigMap: ["cm"],
  CustomResourceDefinition: ["crd", "crds"],
  DaemonSet: ["ds"],
  Deployment: ["deploy"],
  Event: ["ev"],
  Ingress: ["ing"],
  Namespace: ["ns"],
  NetworkPolicy: ["netpol"],
  Node: ["no"],
  PersistentVolumeClaim: ["pvc"],
  Pod: ["po"],
  PodDisruptionBudget: ["pdb"],
  ReplicaSet: ["rs"],
  Service: ["svc"],
  ServiceAccount: ["sa"],
  StatefulSet: ["sts"],
};

/** How the server behaves for `resource`: by Kubernetes' own rules, or by the manifest of a custom one. */
export function servedResource(resource: Resource): ServedResource {
  const { group, version, apiVersion, kind, plural, scope } = resource;
  const isBuiltIn = resource.crd === undefined && isKnown(resource);
  return {
    ...(isBuiltIn ? builtInRules(kind) : customRules(resource)),
    resource,
    convert: (resource as { readonly convert?: Convert }).convert,
    group,
    version,
    apiVersion,
    kind,
    plural,
    isBuiltIn,
    isNamespaced: scope === "Namespaced",
    storeKey: `${group}/${plural}`,
  };
}

/** A resource in every version that its manifest serves, its own version first. */
export function servedVersions(resource: Resource): readonly ServedResource[] {
  const others = versionsOf(resource.crd)
    .filter(({ name, served }) => served === true && name !== resource.version)
    .map(({ name }) => fromCrd(resource.crd as object, String(name)));
  return [resource, ...others].map(servedResource);
}

/** Resources in all versions, without those that are given twice, or by another version of their manifest. */
export function servedResources(resources: readonly Resource[]): readonly ServedResource[] {
  const all = resources.flatMap(servedVersions);
  const keyOf = ({ storeKey, version }: ServedResource): string => `${storeKey} ${version}`;
  return [...new Map(all.map((one) => [keyOf(one), one])).values()].map((one) => {
    const siblings = all.filter(({ storeKey }) => storeKey === one.storeKey);
    const convert = siblings.find((sibling) => sibling.convert !== undefined)?.convert;
    return { ...one, convert, versions: versionsIn(siblings) };
  });
}

/** The versions of all manifests of a resource. */
function versionsIn(served: readonly ServedResource[]): ServedResource["versions"] {
  if (served.some(({ versions }) => versions === undefined)) return undefined;
  return new Map(served.flatMap(({ versions = [] }) => [...versions]));
}

function versionsOf(crd: unknown): readonly JsonObject[] {
  const versions = own(objectAt(crd, "spec"), "versions");
  return Array.isArray(versions) ? versions.filter(isObject) : [];
}

type Rules = Pick<
  ServedResource,
  | "versions"
  | "storage"
  | "selectable"
  | "scale"
  | "deprecation"
  | "singular"
  | "shortNames"
  | "categories"
  | "listKind"
  | "schema"
  | "fieldType"
  | "columns"
  | "hasStatus"
  | "hasGeneration"
  | "canPutNew"
  | "canPutBlindly"
>;

function isKnown({ apiVersion, kind, plural }: Resource): boolean {
  try {
    return builtIn(apiVersion, kind).plural === plural;
  } catch {
    return false;
  }
}

function builtInRules(kind: string): Rules {
  return {
    singular: kind.toLowerCase(),
    shortNames: SHORT_NAMES[kind] ?? [],
    categories: [],
    listKind: `${kind}List`,
    schema: undefined,
    fieldType: builtInRootType(),
    versions: undefined,
    storage: undefined,
    selectable: [],
    scale: undefined,
    deprecation: undefined,
    columns: columnsOf(undefined),
    hasStatus: !WITHOUT_STATUS.has(kind),
    hasGeneration: WITH_GENERATION.has(kind),
    canPutNew: kind === "Lease" || kind === "Event",
    canPutBlindly: kind !== "Lease" && kind !== "PodDisruptionBudget",
  };
}

function customRules(resource: Resource): Rules {
  const { crd, kind, version } = resource;
  const names = objectAt(objectAt(crd, "spec"), "names");
  const manifest = versionsOf(crd).find(({ name }) => name === version);
  const schema = schemaOf(manifest);
  return {
    singular: textAt(names, "singular") ?? kind.toLowerCase(),
    shortNames: listAt(names, "shortNames"),
    categories: listAt(names, "categories"),
    listKind: textAt(names, "listKind") ?? `${kind}List`,
    schema,
    fieldType: schemaRootType(schema),
    versions: knownVersions(resource),
    storage: storageOf(resource),
    selectable: selectableOf(manifest),
    scale: scaleOf(manifest),
    deprecation: deprecationOf(resource, manifest),
    columns: columnsOf(manifest && own(manifest, "additionalPrinterColumns")),
    // Without a manifest: as every new custom resource has it.
    hasStatus:
      manifest === undefined || own(objectAt(manifest, "subresources"), "status") !== undefined,
    hasGeneration: true,
    canPutNew: false,
    canPutBlindly: false,
  };
}

function knownVersions({ crd, group }: Resource): ServedResource["versions"] {
  const versions = versionsOf(crd);
  if (versions.length === 0) return undefined;
  return new Map(
    versions.map((manifest) => [
      `${group}/${manifest["name"]}`,
      schemaRootType(schemaOf(manifest)),
    ]),
  );
}

function storageOf({ crd, group, version }: Resource): StoredVersion | undefined {
  const stored = versionsOf(crd).find(({ storage }) => storage === true);
  if (stored === undefined || stored["name"] === version) return undefined;
  return { apiVersion: `${group}/${stored["name"]}`, schema: schemaOf(stored) };
}

function selectableOf(manifest: JsonObject | undefined): string[] {
  const fields = manifest && own(manifest, "selectableFields");
  if (!Array.isArray(fields)) return [];
  return fields.map((field) =>
    String(isObject(field) && own(field, "jsonPath")).replace(/^\./, ""),
  );
}

function scaleOf(manifest: JsonObject | undefined): ScalePaths | undefined {
  const scale = own(objectAt(manifest, "subresources"), "scale");
  if (!isObject(scale)) return undefined;
  const path = (name: string) => textAt(scale, name)?.split(".").filter(Boolean);
  const specReplicas = path("specReplicasPath");
  const statusReplicas = path("statusReplicasPath");
  if (specReplicas === undefined || statusReplicas === undefined) return undefined;
  return { specReplicas, statusReplicas, selector: path("labelSelectorPath") };
}

function deprecationOf(
  { crd, apiVersion, group, kind }: Resource,
  manifest: JsonObject | undefined,
): string | undefined {
  if (manifest?.["deprecated"] !== true) return undefined;
  const given = textAt(manifest, "deprecationWarning");
  if (given !== undefined) return given;
  const [newest] = versionsOf(crd)
    .filter(({ served, deprecated }) => served === true && deprecated !== true)
    .map(({ name }) => String(name))
    .sort(byPriority);
  const advice = newest === undefined ? "" : `; use ${group}/${newest} ${kind}`;
  return `${apiVersion} ${kind} is deprecated${advice}`;
}

/** Stable versions come first, then beta, alpha and others; newer before older. */
export function byPriority(a: string, b: string): number {
  const [rankA, rankB] = [a, b].map((name) => {
    const [, major, stage = "stable", minor = "0"] =
      /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(name) ?? [];
    if (major === undefined) return [0, 0, 0];
    return [{ stable: 3, beta: 2, alpha: 1 }[stage] ?? 0, Number(major), Number(minor)];
  }) as [number[], number[]];
  const at = rankA.findIndex((part, index) => part !== rankB[index]);
  return at === -1 ? Number(a > b) - Number(a < b) : (rankB[at] as number) - (rankA[at] as number);
}

function schemaOf(manifest: JsonObject | undefined): JsonObject | undefined {
  const schema = own(objectAt(manifest, "schema"), "openAPIV3Schema");
  return isObject(schema) ? schema : undefined;
}

function objectAt(value: unknown, name: string): JsonObject {
  const found = isObject(value) ? own(value, name) : undefined;
  return isObject(found) ? found : {};
}

function textAt(object: JsonObject, name: string): string | undefined {
  const found = own(object, name);
  return typeof found === "string" && found !== "" ? found : undefined;
}

function listAt(object: JsonObject, name: string): readonly string[] {
  const found = own(object, name);
  return Array.isArray(found) ? found.filter((item) => typeof item === "string") : [];
}
