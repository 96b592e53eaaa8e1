import { isObject, type JsonObject, metadataOf, own } from "../json.ts";

/** A column of a table, as a CustomResourceDefinition describes it. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly format: string;
  readonly priority: number;

  /** Names from the object down to the cell. */
  readonly path: readonly string[];
}

const NAME: TableColumn = {
  name: "Name",
  type: "string",
  format: "name",
  description: "Name of the object",
  priority: 0,
  path: ["metadata", "name"],
};

const AGE: TableColumn = {
  name: "Age",
  type: "date",
  format: "",
  description: "Time of the creation",
  priority: 0,
  path: ["metadata", "creationTimestamp"],
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
      path: String(column["jsonPath"]).split(".").slice(1),
    })),
  ];
}

/** Objects as a table, for people. */
export function tableOf(
  objects: readonly JsonObject[],
  metadata: JsonObject,
  columns: readonly TableColumn[],
): JsonObject {
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: columns.map(({ path: _, ...definition }) => definition),
    rows: objects.map((object) => ({
      cells: columns.map(({ path }) => cellAt(object, path)),
      object: {
        kind: "PartialObjectMetadata",
        apiVersion: "meta.k8s.io/v1",
        metadata: metadataOf(object),
      },
    })),
  };
}

function cellAt(object: JsonObject, path: readonly string[]): unknown {
  let value: unknown = object;
  for (const name of path) value = isObject(value) ? own(value, name) : undefined;
  return value ?? null;
}
