import { isObject, type JsonObject, metadataOf } from "../../object/json.ts";
import { humanDuration } from "./human-duration.ts";
import { type JsonPath, jsonPath } from "./json-path.ts";

/** A column of a table, as a CustomResourceDefinition describes it. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly format: string;
  readonly priority: number;

  /** Chooses the values of the cell. Undefined for a path that the fake server does not know: the cell is empty. */
  readonly path: JsonPath | undefined;
}

const NAME: TableColumn = {
  name: "Name",
  type: "string",
  format: "name",
  description: "Name of the object",
  priority: 0,
  path: jsonPath(".metadata.name"),
};

const AGE: TableColumn = {
  name: "Age",
  type: "date",
  format: "",
  description: "Time of the creation",
  priority: 0,
  path: jsonPath(".metadata.creationTimestamp"),
};

/** The columns of a resource: the name, and those of its manifest or the age. */
export function columnsOf(printed: unknown): readonly TableColumn[] {
  if (!Array.isArray(printed)) return [NAME, AGE];
  return [
    NAME,
    ...printed.filter(isObject).map((column) => ({
      name: String(column["name"]),
      type: String(column["type"]),
      description: String(column["description"] ?? ""),
      format: String(column["format"] ?? ""),
      priority: Number(column["priority"] ?? 0),
      path: jsonPath(String(column["jsonPath"])),
    })),
  ];
}

/** The object in a row of a table: its metadata, the whole, or null. */
export type RowObject = "Metadata" | "Object" | "None";

/** The form of a table. */
export interface TableForm {
  readonly columns: readonly TableColumn[];
  readonly apiVersion: string;
  readonly object: RowObject;

  /** Time of the server for ages, in milliseconds since the epoch. */
  readonly now: number;
}

/** Objects as a table, for people. */
export function tableOf(
  objects: readonly JsonObject[],
  metadata: JsonObject,
  { columns, apiVersion, object: form, now }: TableForm,
): JsonObject {
  return {
    kind: "Table",
    apiVersion,
    metadata,
    columnDefinitions: columns.map(({ path: _, ...definition }) => definition),
    rows: objects.map((object) => ({
      cells: columns.map(({ path, type }) => {
        const [value] = path?.(object) ?? [];
        return value === undefined || value === null ? null : cellOf(value, type, now);
      }),
      object: rowObject(object, form, apiVersion),
    })),
  };
}

function rowObject(object: JsonObject, form: RowObject, apiVersion: string): JsonObject | null {
  switch (form) {
    case "Metadata":
      return { kind: "PartialObjectMetadata", apiVersion, metadata: metadataOf(object) };
    case "Object":
      return object;
    case "None":
      return null;
  }
}

/** A value of another type than the column's makes an empty cell. */
function cellOf(value: unknown, type: string, now: number): unknown {
  switch (type) {
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? ageOf(value, now) : null;
    default:
      return typeof value === "string" ? value : JSON.stringify(value);
  }
}

function ageOf(time: string, now: number): string {
  const age = now - Date.parse(time);
  return Number.isNaN(age) ? "<invalid>" : humanDuration(age);
}
