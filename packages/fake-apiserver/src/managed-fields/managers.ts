import { isObject, type JsonObject } from "../object/json.ts";
import { FieldSet } from "./field-set.ts";

/** An entry of `metadata.managedFields`: an owner, its fields and the operation. */
export interface Manager {
  readonly name: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string;
  readonly fields: FieldSet;
}

/** Reads `metadata.managedFields`. */
export function readManagers(value: unknown): Manager[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).map((entry) => ({
    name: String(entry["manager"]),
    operation: entry["operation"] === "Apply" ? "Apply" : "Update",
    apiVersion: String(entry["apiVersion"]),
    subresource: typeof entry["subresource"] === "string" ? entry["subresource"] : "",
    time: String(entry["time"]),
    fields: FieldSet.fromFields(entry["fieldsV1"]),
  }));
}

/** Writes `metadata.managedFields`: applies first, then by time and name. Undefined if nothing is owned. */
export function writeManagers(managers: readonly Manager[]): JsonObject[] | undefined {
  const owning = managers.filter(({ fields }) => !fields.isEmpty);
  if (owning.length === 0) return undefined;
  const rank = ({ operation, time, name, apiVersion, subresource }: Manager): string =>
    [operation, time, name, apiVersion, subresource].join(" ");
  return owning
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
    .map(({ name, operation, apiVersion, subresource, time, fields }) => ({
      manager: name,
      operation,
      apiVersion,
      time,
      fieldsType: "FieldsV1",
      fieldsV1: fields.toFields(),
      ...(subresource !== "" && { subresource }),
    }));
}

/** Whether two entries belong to the same manager. */
export function isSameManager(a: Manager, b: Manager): boolean {
  if (a.name !== b.name || a.operation !== b.operation || a.subresource !== b.subresource)
    return false;
  return a.operation === "Apply" || a.apiVersion === b.apiVersion;
}
