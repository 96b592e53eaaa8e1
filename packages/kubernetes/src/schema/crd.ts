import {
  anything,
  type Kinds,
  kind,
  read,
  requireArray,
  requireBoolean,
  required,
  show,
  text,
} from "@holdfast/kit";
import { isObject, type JsonObject, own } from "@holdfast/kit/kubernetes";
import { type JsonSchema, type StandardSchema, structuralPart } from "./standard-schema.ts";

/** A rule in CEL (the Common Expression Language), which a server checks with each write. */
export interface ValidationRule {
  /** The expression, for example `self.spec.min <= self.spec.max`. `self` is the object. */
  readonly rule: string;

  /** The message for an object against the rule. Default: the rule. */
  readonly message?: string | undefined;

  /** An expression that makes the message. */
  readonly messageExpression?: string | undefined;

  /** The field that is against the rule, for example `.spec.min`. */
  readonly fieldPath?: string | undefined;

  /** The reason in the cause of the error. Default: `FieldValueInvalid`. */
  readonly reason?:
    | "FieldValueInvalid"
    | "FieldValueForbidden"
    | "FieldValueRequired"
    | "FieldValueDuplicate"
    | undefined;

  /** Whether a rule about `oldSelf` is checked for a new object, too: `oldSelf` is then an optional value. */
  readonly optionalOldSelf?: boolean | undefined;
}

/** A column of `kubectl get`. */
export interface PrinterColumn {
  /** Title, for example `Schedule`. */
  readonly name: string;

  /** Path of the field, for example `.spec.schedule`. */
  readonly path: string;

  /** Type of the values. Default: that of the field in the schema; `date` for times of `metadata`. */
  readonly type?: "integer" | "number" | "string" | "boolean" | "date" | undefined;

  /** Description, which `kubectl explain` shows. */
  readonly description?: string | undefined;

  /** Above 0: shown only with `-o wide`. Default: 0. */
  readonly priority?: number | undefined;
}

/** The part of a manifest that each version has of its own. */
export interface SchemaOptions {
  /**
   * Schema of the spec: of a library that implements Standard JSON Schema (zod from 4.2 on, ArkType from 2.2 on), or
   * a JSON schema. With it the resource has its manifest as `crd`.
   */
  readonly spec?: StandardSchema | JsonSchema | undefined;

  /** Schema of the status. With it the resource has the subresource `status`. Default: no status. */
  readonly status?: StandardSchema | JsonSchema | undefined;

  /**
   * Whether the status has `conditions`, as `setCondition` makes them: a list of `metav1.Condition` with one of a
   * type. They come beside the fields of `status`, if there is one.
   *
   * @defaultValue `false`
   */
  readonly conditions?: boolean | undefined;

  /** Rules that a server checks with each write, in CEL. */
  readonly rules?: readonly ValidationRule[] | undefined;

  /**
   * The keys of lists, by path: `{ ".spec.ports": ["name"] }`. A server refuses two items with the same key, and an
   * apply merges items by it. Lists without keys are applied as a whole.
   */
  readonly listKeys?: Readonly<Record<string, readonly string[]>> | undefined;

  /** Columns of `kubectl get`, after the name. Default: the age. */
  readonly columns?: readonly PrinterColumn[] | undefined;

  /**
   * Paths of the numbers of replicas, with which the resource has the subresource `scale`: `kubectl scale` and autoscalers
   * use it.
   *
   * @defaultValue no such subresource
   */
  readonly scale?: ScalePaths | undefined;

  /** Paths of fields that field selectors may name, for example `.spec.zone`. At most 8. Default: none. */
  readonly selectable?: readonly string[] | undefined;
}

/** The names and texts of a manifest that all versions share. */
export interface KindOptions {
  /** Short names for `kubectl`, for example `ct`. */
  readonly shortNames?: readonly string[] | undefined;

  /** Groups of resources for `kubectl get`, for example `all`. */
  readonly categories?: readonly string[] | undefined;

  /** Description of the kind, which `kubectl explain` shows. */
  readonly description?: string | undefined;
}

/** What the manifest of a resource says beside its names. */
export interface CrdOptions extends SchemaOptions, KindOptions {}

/** Fields of the subresource `scale`. */
export interface ScalePaths {
  /** Path of the wanted number, for example `.spec.size`. */
  readonly replicas: string;

  /** Path of the number that there is, for example `.status.size`. */
  readonly status: string;

  /** Path of a label selector as a text, for example `.status.selector`. Default: none. */
  readonly selector?: string | undefined;
}

export const VALIDATION_RULE: Kinds<ValidationRule> = {
  rule: required(text),
  message: anything,
  messageExpression: anything,
  fieldPath: anything,
  reason: anything,
  optionalOldSelf: anything,
};

export const PRINTER_COLUMN: Kinds<PrinterColumn> = {
  name: required(text),
  path: required(kind("columnPath", requireColumnPath)),
  type: anything,
  description: anything,
  priority: anything,
};

export const SCALE_PATHS: Kinds<ScalePaths> = {
  replicas: required(kind("columnPath", requireColumnPath)),
  status: required(kind("columnPath", requireColumnPath)),
  selector: kind("columnPath", requireColumnPath),
};

/** The names of a resource. */
interface Names {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: string;
}

/** A version of a manifest. */
export interface DefinedVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema: { readonly openAPIV3Schema: JsonObject };
  readonly subresources?: object;
  readonly selectableFields?: readonly object[];
  readonly additionalPrinterColumns?: readonly object[];
}

/** The CustomResourceDefinition of a kind. */
export function crdOf(
  names: Names,
  { shortNames, categories }: KindOptions,
  versions: readonly DefinedVersion[],
  conversion?: object,
): object {
  for (const [name, list] of Object.entries({ shortNames, categories }))
    if (list !== undefined) requireArray(name, list);
  const { group, kind, plural, scope } = names;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(shortNames !== undefined && { shortNames }),
        ...(categories !== undefined && { categories }),
      },
      ...(conversion !== undefined && { conversion }),
      versions,
    },
  };
}

/**
 * A version of a manifest, served and stored.
 *
 * @param at - prefix of the options, for errors
 * @throws TypeError or RangeError for options that a definition cannot express
 */
export function versionOf(name: string, options: CrdOptions, at = ""): DefinedVersion {
  requireLists(options, at);
  const { status, conditions, columns, scale, selectable } = options;
  const schema = schemaOf(options, at);
  const hasStatus = status !== undefined || conditions === true;
  const subresources = {
    ...(hasStatus && { status: {} }),
    ...(scale !== undefined && {
      scale: {
        specReplicasPath: pathIn(schema, scale.replicas, `${at}scale.replicas`),
        statusReplicasPath: pathIn(schema, scale.status, `${at}scale.status`),
        ...(scale.selector !== undefined && {
          labelSelectorPath: pathIn(schema, scale.selector, `${at}scale.selector`),
        }),
      },
    }),
  };
  return {
    name,
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
    ...(Object.keys(subresources).length > 0 && { subresources }),
    ...(selectable !== undefined && {
      selectableFields: selectable.map((path, index) => ({
        jsonPath: pathIn(schema, path, `${at}selectable[${index}]`),
      })),
    }),
    ...(columns !== undefined && {
      additionalPrinterColumns: columns.map((column) => columnOf(column, schema)),
    }),
  };
}

function requireLists(options: CrdOptions, at: string): void {
  const { conditions, rules = [], columns = [], scale, selectable = [] } = options;
  if (conditions !== undefined) requireBoolean(`${at}conditions`, conditions);
  for (const [name, list] of Object.entries({ rules, columns, selectable }))
    requireArray(`${at}${name}`, list);
  for (const [index, rule] of rules.entries())
    read(`${at}rules[${index}]`, rule, "customResource", VALIDATION_RULE);
  for (const [index, column] of columns.entries())
    read(`${at}columns[${index}]`, column, "customResource", PRINTER_COLUMN);
  if (scale !== undefined) read(`${at}scale`, scale, "customResource", SCALE_PATHS);
  for (const [index, path] of selectable.entries())
    requireColumnPath(`${at}selectable[${index}]`, path);
}

function pathIn(schema: JsonObject, path: string, name: string): string {
  if (fieldAt(schema, path) !== undefined) return path;
  throw new RangeError(`${name} must name a field of the schema, got ${JSON.stringify(path)}`);
}

function requireColumnPath(name: string, path: unknown): void {
  if (typeof path !== "string" || !path.startsWith("."))
    throw new RangeError(`${name} must be a path such as ".spec.schedule", got ${show(path)}`);
}

function schemaOf(options: CrdOptions, at: string): JsonObject {
  const { spec, status, conditions, rules, listKeys = {}, description } = options;
  const properties: JsonObject = {};
  for (const [name, part] of Object.entries({ spec, status }))
    if (part !== undefined) properties[name] = structuralPart(part, `${at}${name}`);
  if (conditions === true) properties["status"] = withConditions(properties["status"], at);
  for (const [path, keys] of Object.entries(listKeys)) markList({ properties }, path, keys, at);
  return {
    type: "object",
    ...(description !== undefined && { description }),
    properties,
    ...(spec !== undefined && { required: ["spec"] }),
    ...(rules !== undefined && { "x-kubernetes-validations": rules }),
  };
}

/** The schema of `metav1.Condition`, as controller-gen writes it. */
const CONDITION: JsonObject = {
  type: "object",
  properties: {
    type: { type: "string", maxLength: 316 },
    status: { type: "string", enum: ["True", "False", "Unknown"] },
    reason: {
      type: "string",
      minLength: 1,
      maxLength: 1_024,
      pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
    },
    message: { type: "string", maxLength: 32_768 },
    observedGeneration: { type: "integer", format: "int64", minimum: 0 },
    lastTransitionTime: { type: "string", format: "date-time" },
  },
  required: ["type", "status", "reason", "message", "lastTransitionTime"],
};

function withConditions(status: unknown, at: string): JsonObject {
  const before = isObject(status) ? status : { type: "object" };
  const { properties } = before;
  if (isObject(properties) && "conditions" in properties)
    throw new RangeError(
      `${at}conditions: true adds the field to the status, which has it already`,
    );
  const conditions = {
    type: "array",
    items: CONDITION,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
  };
  return { ...before, properties: { ...(isObject(properties) && properties), conditions } };
}

function markList(root: JsonObject, path: string, keys: readonly string[], at: string): void {
  const list = fieldAt(root, path);
  const items = fieldAt(root, `${path}[]`);
  if (list === undefined || items?.["type"] !== "object")
    throw new RangeError(`${at}listKeys must name lists of objects, got ${JSON.stringify(path)}`);
  for (const key of keys)
    if (!isAlwaysThere(items, key))
      throw new RangeError(
        `${at}listKeys of ${path} must name fields that are required or have a default, got ${show(key)}`,
      );
  list["x-kubernetes-list-type"] = "map";
  list["x-kubernetes-list-map-keys"] = [...keys];
}

function isAlwaysThere(object: JsonObject, name: string): boolean {
  const field = fieldAt(object, `.${name}`);
  const { required } = object;
  const isRequired = Array.isArray(required) && required.includes(name);
  return field !== undefined && (isRequired || "default" in field);
}

/** The schema of a field, by a path such as `.spec.ports[].name`. */
export function fieldAt(root: JsonObject, path: string): JsonObject | undefined {
  let at: JsonObject | undefined = root;
  for (const part of path.split(/\.|(?=\[)/).filter((name) => name !== "")) {
    const properties: unknown = at["properties"];
    const below: unknown = part.startsWith("[")
      ? at["items"]
      : isObject(properties)
        ? own(properties, part)
        : undefined;
    at = isObject(below) ? below : undefined;
    if (at === undefined) return undefined;
  }
  return at;
}

function columnOf(column: PrinterColumn, schema: JsonObject): object {
  const { name, path, type = typeAt(schema, path), description, priority } = column;
  return {
    name,
    type,
    jsonPath: path,
    ...(description !== undefined && { description }),
    ...(priority !== undefined && { priority }),
  };
}

function typeAt(schema: JsonObject, path: string): string {
  if (/^\.metadata\.\w+Timestamp$/.test(path)) return "date";
  const field = fieldAt(schema, path);
  const type = String(field?.["type"]);
  if (type === "string" && field?.["format"] === "date-time") return "date";
  return ["integer", "number", "boolean"].includes(type) ? type : "string";
}
