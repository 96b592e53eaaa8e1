import { goJson, isObject, own } from "../../object/json.ts";
import type { JsonPatchOperation } from "./json-patch.ts";
import { OPERATIONS } from "./json-patch.ts";

/** A text that is no JSON patch. */
export class JsonPatchFormError extends Error {
  override readonly name = "JsonPatchFormError";
}

const MEMBERS: ReadonlySet<string> = new Set(["op", "path", "from", "value"]);

/**
 * Reads the operations of a JSON patch as a server does.
 *
 * @returns the operations, and the paths of members that no operation has
 * @throws JsonPatchFormError for a list that is none, and for an operation that misses a member
 */
export function readJsonPatch(patch: unknown): {
  readonly operations: readonly JsonPatchOperation[];
  readonly unknown: readonly string[];
} {
  if (!Array.isArray(patch))
    throw undecodable(goForm(patch), "value of type []handlers.jsonPatchOp");
  const unknown = patch.flatMap((operation, index) => unknownMembers(operation, index));
  for (const operation of patch) requireOperation(operation);
  return { operations: patch as JsonPatchOperation[], unknown };
}

function unknownMembers(operation: unknown, index: number): string[] {
  if (operation === null) return [];
  if (!isObject(operation))
    throw undecodable(goForm(operation), "value of type handlers.jsonPatchOp");
  for (const name of ["op", "path", "from"]) {
    const value = own(operation, name);
    if (typeof value !== "string" && value !== undefined && value !== null)
      throw undecodable(goForm(value), `struct field jsonPatchOp.${name} of type string`);
  }
  const names = Object.keys(operation).filter((name) => !MEMBERS.has(name));
  return names.map((name) => `[${index}].${name}`);
}

function requireOperation(operation: unknown): void {
  const members = isObject(operation) ? operation : {};
  const { op, path, from } = members;
  const fail = (problem: string): JsonPatchFormError =>
    new JsonPatchFormError(`invalid operation ${goJson(operation)}: ${problem}`);
  if (!(OPERATIONS as readonly unknown[]).includes(op)) throw fail("unsupported operation");
  if (typeof path !== "string")
    throw fail("failed to decode 'path': operation missing path field: missing value");
  if ((op === "move" || op === "copy") && typeof from !== "string")
    throw fail("failed to decode 'from': operation, missing from field: missing value");
  if ((op === "add" || op === "replace") && !Object.hasOwn(members, "value"))
    throw fail("failed to decode 'value': operation, missing value field: missing value");
}

function undecodable(form: string, target: string): JsonPatchFormError {
  return new JsonPatchFormError(
    `error decoding patch: json: cannot unmarshal ${form} into Go ${target}`,
  );
}

/** The form of a value as Go names it. */
export function goForm(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}
