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

/** What the manifest of a resource says beside its names. */
export interface CrdOptions {
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

  /** Short names for `kubectl`, for example `ct`. */
  readonly shortNames?: readonly string[] | undefined;

  /** Groups of resources for `kubectl get`, for example `all`. */
  readonly categories?: readonly string[] | undefined;

  /** Description of the kind, which `kubectl explain` shows. */
  readonly description?: string | undefined;
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

/** The names of a resource. */
interface Names {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: string;
}

/**
 * The CustomResourceDefinition of a resource with a schema.
 *
 * @throws TypeError or RangeError for options that a definition cannot express
 */
export function crdOf(names: Names, options: CrdOptions): object {
  requireLists(options);
  const { group, version, kind, plural, scope } = names;
  const { status, conditions, columns, shortNames, categories } = options;
  const schema = schemaOf(options);
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
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          ...((status !== undefined || conditions === true) && { subresources: { status: {} } }),
          ...(columns !== undefined && {
            additionalPrinterColumns: columns.map((column) => columnOf(column, schema)),
          }),
        },
      ],
    },
  };
}

function requireLists({ conditions, rules, columns, shortNames, categories }: CrdOptions): void {
  if (conditions !== undefined) requireBoolean("conditions", conditions);
  for (const [name, list] of Object.entries({ rules, columns, shortNames, categories }))
    if (list !== undefined) requireArray(name, list);
  for (const [index, rule] of (rules ?? []).entries())
    read(`rules[${index}]`, rule, "customResource", VALIDATION_RULE);
  for (const [index, column] of (columns ?? []).entries())
    read(`columns[${index}]`, column, "customResource", PRINTER_COLUMN);
}

function requireColumnPath(name: string, path: unknown): void {
  if (typeof path !== "string" || !path.startsWith("."))
    throw new RangeError(`${name} must be a path such as ".spec.schedule", got ${show(path)}`);
}

function schemaOf(options: CrdOptions): JsonObject {
  const { spec, status, conditions, rules, listKeys = {}, description } = options;
  const properties: JsonObject = {};
  for (const [name, part] of Object.entries({ spec, status }))
    if (part !== undefined) properties[name] = structuralPart(part, name);
  if (conditions === true) properties["status"] = withConditions(properties["status"]);
  for (const [path, keys] of Object.entries(listKeys)) markList({ properties }, path, keys);
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

function withConditions(status: unknown): JsonObject {
  const before = isObject(status) ? status : { type: "object" };
  const { properties } = before;
  if (isObject(properties) && "conditions" in properties)
    throw new RangeError("conditions: true adds the field to the status, which has it already");
  const conditions = {
    type: "array",
    items: CONDITION,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
  };
  return { ...before, properties: { ...(isObject(properties) && properties), conditions } };
}

function markList(root: JsonObject, path: string, keys: readonly string[]): void {
  const list = fieldAt(root, path);
  const items = fieldAt(root, `${path}[]`);
  if (list === undefined || items?.["type"] !== "object")
    throw new RangeError(`listKeys must name lists of objects, got ${JSON.stringify(path)}`);
  for (const key of keys)
    if (!isAlwaysThere(items, key))
      throw new RangeError(
        `listKeys of ${path} must name fields that are required or have a default, got ${show(key)}`,
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
function fieldAt(root: JsonObject, path: string): JsonObject | undefined {
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
