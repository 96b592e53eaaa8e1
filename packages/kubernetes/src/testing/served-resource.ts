import { builtIn } from "../object/built-in.ts";
import type { Resource } from "../object/resource.ts";
import { builtInRootType, type FieldType, schemaRootType } from "./apply/field-type.ts";
import { isObject, type JsonObject, own } from "./json.ts";
import { columnsOf, type TableColumn } from "./request/table.ts";

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

/** Built-in kinds without a status. */
const WITHOUT_STATUS: ReadonlySet<string> = new Set(
  "ClusterRole ClusterRoleBinding ConfigMap ControllerRevision CSIDriver CSINode CSIStorageCapacity DeviceClass EndpointSlice Endpoints Event IngressClass Lease LimitRange MutatingWebhookConfiguration NetworkPolicy PodTemplate PriorityClass ResourceClaimTemplate ResourceSlice Role RoleBinding RuntimeClass Secret ServiceAccount StorageClass ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration VolumeAttributesClass".split(
    " ",
  ),
);

/** Built-in kinds whose objects have a generation. */
const WITH_GENERATION: ReadonlySet<string> = new Set(
  "CronJob CustomResourceDefinition DaemonSet Deployment EndpointSlice FlowSchema Ingress IngressClass Job MutatingWebhookConfiguration NetworkPolicy Pod PodDisruptionBudget PriorityLevelConfiguration ReplicaSet ReplicationController StatefulSet ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration".split(
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
  Namespace: ["ns"],
  Node: ["no"],
  Pod: ["po"],
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

type Rules = Pick<
  ServedResource,
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
    columns: columnsOf(undefined),
    hasStatus: !WITHOUT_STATUS.has(kind),
    hasGeneration: WITH_GENERATION.has(kind),
    canPutNew: kind === "Lease" || kind === "Event",
    canPutBlindly: kind !== "Lease",
  };
}

function customRules({ crd, kind, version }: Resource): Rules {
  const spec = objectAt(crd, "spec");
  const names = objectAt(spec, "names");
  const versions = own(spec, "versions");
  const manifest = Array.isArray(versions)
    ? versions.filter(isObject).find(({ name }) => name === version)
    : undefined;
  const schema = schemaOf(manifest);
  return {
    singular: textAt(names, "singular") ?? kind.toLowerCase(),
    shortNames: listAt(names, "shortNames"),
    categories: listAt(names, "categories"),
    listKind: textAt(names, "listKind") ?? `${kind}List`,
    schema,
    fieldType: schemaRootType(schema),
    columns: columnsOf(manifest && own(manifest, "additionalPrinterColumns")),
    // Without a manifest: as every new custom resource has it.
    hasStatus:
      manifest === undefined || own(objectAt(manifest, "subresources"), "status") !== undefined,
    hasGeneration: true,
    canPutNew: false,
    canPutBlindly: false,
  };
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
