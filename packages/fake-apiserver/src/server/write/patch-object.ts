import {
  isObject,
  type JsonObject,
  metadataOf,
  parseJson,
  UnsafePatchError,
} from "../../object/json.ts";
import { badRequest, Failure, unsupportedMediaType } from "../failure.ts";
import { JsonPatchError, jsonPatch } from "../patch/json-patch.ts";
import { goForm, JsonPatchFormError, readJsonPatch } from "../patch/json-patch-operations.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import type { ApiCall } from "../request/api-call.ts";
import { duplicateTexts } from "./duplicate-fields.ts";

const MERGE = "application/merge-patch+json";
const JSON_PATCH = "application/json-patch+json";

/** Type of the body of a server-side apply. */
export const APPLY = "application/apply-patch+yaml";

/** Type of the body of a call, without parameters. */
export function contentTypeOf({ headers }: ApiCall): string {
  return (headers["content-type"] ?? "").split(";")[0] as string;
}

/** An object after a patch. */
export interface Patched {
  readonly object: JsonObject;

  /** Texts about members of the patch that have no meaning. */
  readonly unknown: readonly string[];
}

/**
 * The object after the merge patch or the JSON patch in a call.
 *
 * @throws Failure for a patch of another type, a malformed one, and one that does not apply
 */
export function patchedObject(call: ApiCall, object: JsonObject): Patched {
  const type = contentTypeOf(call);
  if (type !== MERGE && type !== JSON_PATCH) throw unsupportedMediaType([JSON_PATCH, MERGE, APPLY]);
  const patch = parseJson(call.body ?? "");
  const target = call.served.isBuiltIn ? object : inOrder(object);
  try {
    if (type === MERGE)
      return {
        object: mergePatch(target, requirePatch(patch)) as JsonObject,
        unknown: duplicateTexts(call),
      };
    requireFew(patch);
    const { operations, unknown } = readJsonPatch(patch);
    const patched = jsonPatch(target, operations);
    if (!isObject(patched)) throw new JsonPatchError("a patch must leave an object");
    const texts = unknown.map((path) => `json patch unknown field "${path}"`);
    return { object: patched, unknown: [...duplicateTexts(call, "json patch "), ...texts] };
  } catch (error) {
    throw failureOf(error);
  }
}

/** The most operations of a JSON patch. */
const MAX_OPERATIONS = 10_000;

function requireFew(patch: unknown): void {
  const count = Array.isArray(patch) ? patch.length : 0;
  if (count <= MAX_OPERATIONS) return;
  const message = `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${count}`;
  throw new Failure(413, { reason: "RequestEntityTooLarge", message });
}

/** A custom object as a server writes it: the fields of its metadata in the order of the alphabet. */
function inOrder(object: JsonObject): JsonObject {
  const metadata = Object.entries(metadataOf(object)).sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...object, metadata: Object.fromEntries(metadata) };
}

function failureOf(error: unknown): unknown {
  if (error instanceof UnsafePatchError || error instanceof JsonPatchFormError)
    return badRequest(error.message);
  if (error instanceof JsonPatchError) return unprocessable();
  return error;
}

function unprocessable(): Failure {
  const message = "the server rejected our request due to an error in our request";
  return new Failure(422, { reason: "Invalid", message, details: {} });
}

function requirePatch(patch: unknown): JsonObject {
  if (isObject(patch)) return patch;
  if (patch === null || patch === undefined) throw badRequest("Invalid JSON Patch");
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${goForm(patch)} into Go value of type map[string]interface {}`,
  );
}
