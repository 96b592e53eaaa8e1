import { isObject, type JsonObject, own, propertiesOf, stringsOf } from "../object/json.ts";
import { FIELDS } from "../object/metadata.ts";

/** How Kubernetes merges a field: by the kind of value that is there. */
export interface FieldType {
  /** For an object. */
  readonly map: MapType;

  /** For an array. Undefined: the fake server does not know. */
  readonly list: ListType | undefined;

  /** The only form that a value may have. Undefined: any. */
  readonly form?: "map" | "list" | "string" | "numeric" | "boolean" | "any scalar" | undefined;
}

interface MapType {
  /** Whether the object is one value, owned as a whole. */
  readonly isAtomic: boolean;

  /**
   * Type of a field, and whether the schema names it. An unnamed entry of a map is owned itself, in addition to
   * its content. Undefined: the schema has no such field.
   */
  readonly field: (
    name: string,
  ) => { readonly type: FieldType; readonly isNamed: boolean } | undefined;
}

export type ListType =
  | { readonly kind: "atomic"; readonly item?: FieldType }
  | { readonly kind: "set"; readonly item?: FieldType }
  | {
      readonly kind: "map";
      readonly keys: readonly string[];
      readonly defaults: JsonObject;
      readonly item: FieldType;
    };

const ATOMIC_LIST: ListType = { kind: "atomic" };

/** A value of any form: objects merge, arrays are one value. */
const ANY: FieldType = {
  map: { isAtomic: false, field: () => ({ type: ANY, isNamed: false }) },
  list: ATOMIC_LIST,
};

/** A value that is owned as a whole. */
const ATOMIC: FieldType = { map: { isAtomic: true, field: ANY.map.field }, list: ATOMIC_LIST };

/** A type of an object with the named fields, and others of type `rest`. */
function mapOf(fields: Readonly<Record<string, FieldType>>, rest?: FieldType): FieldType {
  const field = (name: string) => {
    const type = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (type !== undefined) return { type, isNamed: true };
    return rest && { type: rest, isNamed: false };
  };
  return { map: { isAtomic: false, field }, list: ATOMIC_LIST, form: "map" };
}

function listOf(list: ListType): FieldType {
  return { map: ANY.map, list };
}

function formed(form: FieldType["form"]): FieldType {
  return { ...ATOMIC, form };
}

const TEXT = formed("string");

/** An owner: owned as a whole, with the fields that it may have. */
const OWNER = mapOf({
  ...Object.fromEntries(["apiVersion", "kind", "name", "uid"].map((name) => [name, TEXT])),
  controller: formed("boolean"),
  blockOwnerDeletion: formed("boolean"),
});

const METADATA_FORMS: Readonly<Record<string, FieldType["form"]>> = {
  generation: "numeric",
  deletionGracePeriodSeconds: "numeric",
  creationTimestamp: "any scalar",
  deletionTimestamp: "any scalar",
  managedFields: "list",
};

/** `metadata`, of every object. */
const METADATA: FieldType = mapOf({
  ...Object.fromEntries(FIELDS.map((name) => [name, formed(METADATA_FORMS[name] ?? "string")])),
  labels: mapOf({}, TEXT),
  annotations: mapOf({}, TEXT),
  finalizers: { ...listOf({ kind: "set", item: TEXT }), form: "list" },
  ownerReferences: {
    ...listOf({
      kind: "map",
      keys: ["uid"],
      defaults: { uid: "" },
      item: { ...OWNER, map: { ...OWNER.map, isAtomic: true } },
    }),
    form: "list",
  },
});

/** Type of the objects of a custom resource. */
export function schemaRootType(schema: JsonObject | undefined): FieldType {
  if (schema === undefined) return mapOf({ metadata: METADATA }, ANY);
  const type = schemaType(schema);
  const named = { apiVersion: ATOMIC, kind: ATOMIC, metadata: METADATA };
  return {
    ...type,
    map: {
      isAtomic: false,
      field: (name) => mapOf(named).map.field(name) ?? type.map.field(name),
    },
  };
}

/** @param isOpen - whether a schema above keeps unknown fields: those below then may have them too */
function schemaType(schema: JsonObject, isOpen = false): FieldType {
  const keepsUnknown = isOpen || own(schema, "x-kubernetes-preserve-unknown-fields") === true;
  return {
    map: {
      isAtomic: own(schema, "x-kubernetes-map-type") === "atomic",
      field: (name) => schemaField(schema, name, keepsUnknown),
    },
    list: schemaList(schema, keepsUnknown),
    form: formOf(schema),
  };
}

const FORMS: Readonly<Record<string, FieldType["form"]>> = {
  object: "map",
  array: "list",
  string: "string",
  integer: "numeric",
  number: "numeric",
  boolean: "boolean",
};

function formOf(schema: JsonObject): FieldType["form"] {
  if (own(schema, "x-kubernetes-int-or-string") === true) return undefined;
  const { type, format } = schema;
  // Go has types of its own for texts in a format.
  if (type === "string" && format && format !== "byte") return "any scalar";
  return FORMS[String(type)];
}

/** Fields of every object of Kubernetes. */
const EMBEDDED: Readonly<Record<string, FieldType>> = {
  apiVersion: TEXT,
  kind: TEXT,
  metadata: METADATA,
};

function schemaField(
  schema: JsonObject,
  name: string,
  keepsUnknown: boolean,
): ReturnType<MapType["field"]> {
  const isEmbedded = own(schema, "x-kubernetes-embedded-resource") === true;
  if (isEmbedded && Object.hasOwn(EMBEDDED, name))
    return { type: EMBEDDED[name] as FieldType, isNamed: true };
  const property = own(propertiesOf(schema), name);
  if (isObject(property)) return { type: schemaType(property, keepsUnknown), isNamed: true };
  const others = own(schema, "additionalProperties");
  if (isObject(others)) return { type: schemaType(others, keepsUnknown), isNamed: false };
  return keepsUnknown || others === true ? { type: ANY, isNamed: false } : undefined;
}

function schemaList(schema: JsonObject, keepsUnknown: boolean): ListType {
  const kind = own(schema, "x-kubernetes-list-type");
  const items = own(schema, "items");
  if (kind === "set" && isObject(items)) return { kind, item: { ...ATOMIC, form: formOf(items) } };
  if (!isObject(items)) return ATOMIC_LIST;
  const item = schemaType(items, keepsUnknown);
  if (kind !== "map") return { kind: "atomic", item };
  const keys = stringsOf(own(schema, "x-kubernetes-list-map-keys"));
  const properties = propertiesOf(items);
  const defaults = keys.flatMap((key) => {
    const property = own(properties, key);
    return isObject(property) && "default" in property ? [[key, property["default"]]] : [];
  });
  return { kind, keys, defaults: Object.fromEntries(defaults), item };
}

/** Lists of built-in types by the names of their last two fields, or of their last: keys, or how they are owned. */
const BUILT_IN_LISTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    args: "atomic",
    accessModes: "atomic",
    command: "atomic",
    conditions: "type",
    containers: "name",
    "containers.ports": "containerPort protocol=TCP",
    drop: "atomic",
    egress: "atomic",
    "capabilities.add": "atomic",
    env: "name",
    envFrom: "atomic",
    ephemeralContainers: "name",
    hostAliases: "ip",
    imagePullSecrets: "name",
    ingress: "atomic",
    initContainers: "name",
    "initContainers.ports": "containerPort protocol=TCP",
    items: "atomic",
    matchExpressions: "atomic",
    policyTypes: "atomic",
    rules: "atomic",
    secrets: "name",
    sources: "atomic",
    "spec.ports": "port protocol=TCP",
    subjects: "atomic",
    tls: "atomic",
    tolerations: "atomic",
    topologySpreadConstraints: "topologyKey whenUnsatisfiable",
    values: "atomic",
    volumeClaimTemplates: "atomic",
    volumeDevices: "devicePath",
    volumeMounts: "mountPath",
    volumes: "name",
  }),
);

/** A field of a built-in type, of which only the lists in the table are known. */
function builtInType(parent: string, name: string): FieldType {
  return {
    map: {
      isAtomic: false,
      field: (below) => ({ type: builtInType(name, below), isNamed: false }),
    },
    // The items of a list have the name of the list, so that this would never end.
    get list() {
      return builtInList(parent, name);
    },
  };
}

function builtInList(parent: string, name: string): ListType | undefined {
  const text = BUILT_IN_LISTS.get(`${parent}.${name}`) ?? BUILT_IN_LISTS.get(name);
  if (text === undefined) return undefined;
  if (text === "atomic") return ATOMIC_LIST;
  const keys = text.split(" ").map((key) => key.split("=") as [string, string?]);
  const defaults = keys.filter(([, value]) => value !== undefined);
  return {
    kind: "map",
    keys: keys.map(([key]) => key),
    defaults: Object.fromEntries(defaults),
    item: builtInType(parent, name),
  };
}

/** Type of the objects of a built-in resource. */
export function builtInRootType(): FieldType {
  const field: MapType["field"] = (name) =>
    name === "metadata"
      ? { type: METADATA, isNamed: true }
      : { type: builtInType("", name), isNamed: false };
  return { map: { isAtomic: false, field }, list: ATOMIC_LIST };
}
