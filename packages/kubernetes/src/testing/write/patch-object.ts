import { badRequest, Failure, unsupportedMediaType } from "../failure.ts";
import { isObject, type JsonObject, metadataOf, parseJson, UnsafePatchError } from "../json.ts";
import {
  JsonPatchError,
  type JsonPatchOperation,
  jsonPatch,
  OPERATIONS,
} from "../patch/json-patch.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import type { ApiCall } from "../request/api-call.ts";

const MERGE = "application/merge-patch+json";
const JSON_PATCH = "application/json-patch+json";

/** Type of the body of a server-side apply. */
export const APPLY = "application/apply-patch+yaml";

/** Type of the body of a call, without parameters. */
export function contentTypeOf({ headers }: ApiCall): string {
  return ((headers["content-type"] ?? "").split(";")[0] as string).trim();
}

/**
 * The object after the merge patch or the JSON patch in a call.
 *
 * @throws Failure for a patch of another type, a malformed one, and one that does not apply
 */
export function patchedObject(call: ApiCall, object: JsonObject): JsonObject {
  const type = contentTypeOf(call);
  if (type !== MERGE && type !== JSON_PATCH) throw unsupportedMediaType([JSON_PATCH, MERGE, APPLY]);
  const patch = parseJson(call.body ?? "");
  const target = call.served.isBuiltIn ? object : inOrder(object);
  try {
    const patched =
      type === MERGE
        ? mergePatch(target, requirePatch(patch))
        : jsonPatch(target, requireOperations(patch));
    if (isObject(patched)) return patched;
  } catch (error) {
    throw failureOf(error);
  }
  throw badRequest("a patch must leave an object");
}

/** A custom object as a server writes it: the fields of its metadata in the order of the alphabet. */
function inOrder(object: JsonObject): JsonObject {
  const metadata = Object.entries(metadataOf(object)).sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...object, metadata: Object.fromEntries(metadata) };
}

function failureOf(error: unknown): unknown {
  if (error instanceof UnsafePatchError) return badRequest(error.message);
  if (error instanceof JsonPatchError) return unprocessable();
  return error;
}

function unprocessable(): Failure {
  const message = "the server rejected our request due to an error in our request";
  return new Failure(422, { reason: "Invalid", message, details: {} });
}

function requirePatch(patch: unknown): JsonObject {
  if (!isObject(patch)) throw badRequest("a merge patch must be a JSON object");
  return patch;
}

function requireOperations(patch: unknown): JsonPatchOperation[] {
  if (!Array.isArray(patch)) throw badRequest("a JSON patch must be an array of operations");
  for (const operation of patch) {
    const { op, path, from } = isObject(operation) ? operation : ({} as JsonObject);
    const needsFrom = op === "move" || op === "copy";
    const isWell = (OPERATIONS as readonly unknown[]).includes(op) && typeof path === "string";
    if (!isWell || (needsFrom && typeof from !== "string"))
      throw badRequest(`Unexpected kind: ${op}`);
  }
  return patch as JsonPatchOperation[];
}
