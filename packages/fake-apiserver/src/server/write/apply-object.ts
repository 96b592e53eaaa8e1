import {
  ApplyConflictError,
  type OwnershipConflict,
  VersionConversionError,
} from "../../managed-fields/apply-patch.ts";
import { formatPath } from "../../managed-fields/field-set.ts";
import type { Manager } from "../../managed-fields/managers.ts";
import {
  requireTyped,
  TypedValueError,
  UnknownListError,
} from "../../managed-fields/typed-value.ts";
import {
  isObject,
  type JsonObject,
  metadataOf,
  parseJson,
  UnsafePatchError,
  without,
} from "../../object/json.ts";
import { badRequest, conflict, Failure, notFound, notImplemented } from "../failure.ts";
import { goForm } from "../patch/json-patch-operations.ts";
import type { ApiCall } from "../request/api-call.ts";
import { decode } from "../resource/decode.ts";
import { changedObject } from "./changed-object.ts";
import { duplicateFields } from "./duplicate-fields.ts";
import { newObject } from "./new-object.ts";
import type { AdmittedWrite, Objects } from "./objects.ts";
import { applied, managersOf } from "./ownership.ts";
import { requirePlace } from "./read-object.ts";
import { requireNumber, withoutVersion } from "./stale.ts";
import { admitSubmitted } from "./submitted.ts";
import type { WriteOptions } from "./write-options.ts";

/**
 * The write of a server-side apply.
 *
 * @throws Failure for a body that cannot be applied, and for fields that others own
 */
export async function admitApply(
  objects: Objects,
  call: ApiCall,
  options: WriteOptions,
): Promise<AdmittedWrite> {
  const old = objects.find(call);
  const { given, unknown } = readApplied(call, options, old);
  if (old === undefined) requireNew(call, given);
  const result = orFailure(call, () => {
    requireTyped(given, call.served.fieldType);
    // The types of a schema have no values that cannot be read.
    const part = ownPart(call, call.served.isBuiltIn ? decodeTyped(call, given) : given);
    return applied(old, part, { call, options, now: objects.now() });
  });
  if (result === undefined && old !== undefined && call.admission === undefined)
    return { call, name: call.name, old, object: old, options, status: 200 };
  const { object: submitted, managers } = result ?? {
    object: old ?? given,
    managers: managersOf(old),
  };
  const owned = { ...options, managers };
  return await admitSubmitted(call, { submitted, options: owned, unknown }, () =>
    old === undefined
      ? newObject(objects, call, withoutVersion(submitted), owned)
      : changedObject(objects, call, { old, submitted }, owned),
  );
}

/** The object in the body of an apply, with the texts of a reader of YAML about it. */
interface AppliedBody {
  readonly given: JsonObject;
  readonly unknown: readonly string[];
}

function readApplied(
  call: ApiCall,
  { fieldValidation }: WriteOptions,
  old: JsonObject | undefined,
): AppliedBody {
  const { given, unknown } = parseApplied(call);
  if (fieldValidation === "Strict" && unknown.length > 0)
    throw badRequest(
      `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${unknown.join("\n  ")}`,
    );
  requireSameType(call, given);
  const metadata = metadataOf(given);
  if (metadata["managedFields"] !== undefined && metadata["managedFields"] !== null)
    throw badRequest("metadata.managedFields must be nil");
  // The name of an object that is there is known from the path.
  const name = metadata["name"] ?? (old && call.name);
  return { given: requirePlace(call, { ...given, metadata: { ...metadata, name } }), unknown };
}

/** @throws Failure for a body that is no object, and for YAML */
function parseApplied({ body = "" }: ApiCall): AppliedBody {
  const text = withoutTrailingCommas(body);
  const given = text.trim() === "" ? {} : parseJson(text);
  if (given === undefined)
    throw badRequest("the body of an apply must be a JSON object: FakeApi does not parse YAML");
  if (!isObject(given))
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${goForm(given)} into Go value of type map[string]interface {}`,
    );
  const unknown = duplicateFields(text, given).map(
    ({ line, name }) => `line ${line}: key ${JSON.stringify(name)} already set in map`,
  );
  return { given, unknown };
}

/** @throws Failure for an object of another API version or kind, which an apply always names */
function requireSameType({ served }: ApiCall, { apiVersion, kind }: JsonObject): void {
  if (apiVersion === served.apiVersion && kind === served.kind) return;
  const version = typeof apiVersion === "string" ? apiVersion : "";
  const parts = version.split("/").length;
  const shown = parts === 1 ? `/${version}` : version;
  const named = typeof kind === "string" ? kind : "";
  throw badRequest(`invalid object type: ${parts > 2 ? "/, Kind=" : `${shown}, Kind=${named}`}`);
}

/** @throws TypedValueError for a value that the type of a built-in kind does not take */
function decodeTyped(call: ApiCall, object: JsonObject): JsonObject {
  try {
    return decode(call, object);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new TypedValueError(error.message.replace(/^.*(?=json: )/s, ""));
  }
}

/** An apply is YAML, which allows them. */
function withoutTrailingCommas(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, "$1");
}

/** The part that the path addresses: the status, or everything else. */
function ownPart({ served, subresource }: ApiCall, object: JsonObject): JsonObject {
  if (subresource !== "status") return served.hasStatus ? without(object, "status") : object;
  const { apiVersion, kind, metadata, status } = object;
  return status === undefined
    ? { apiVersion, kind, metadata }
    : { apiVersion, kind, metadata, status };
}

function requireNew({ served, name, subresource }: ApiCall, object: JsonObject): void {
  if (subresource !== undefined) throw notFound(served, name);
  const { uid, resourceVersion } = metadataOf(object);
  requireNumber(resourceVersion);
  if (uid)
    throw conflict(
      served,
      name,
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    );
}

function orFailure<T>(call: ApiCall, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ApplyConflictError) throw ownershipFailure(error);
    if (error instanceof TypedValueError) throw typedFailure(call, error);
    if (error instanceof VersionConversionError) throw new Failure(500, { message: error.message });
    if (error instanceof UnsafePatchError) throw badRequest(error.message);
    if (error instanceof UnknownListError)
      throw notImplemented(`${error.message} of a ${call.served.kind}: patch or update it instead`);
    throw error;
  }
}

function typedFailure({ served, body }: ApiCall, { message }: TypedValueError): Failure {
  const { name = "", namespace = "" } = metadataOf(parseJson(body ?? "") as JsonObject);
  const text = `failed to create typed patch object (${namespace}/${name}; ${served.group}/${served.version}, Kind=${served.kind}): ${message}`;
  return new Failure(500, { message: text });
}

function ownershipFailure({ conflicts }: ApplyConflictError): Failure {
  const causes = conflicts.map(({ manager, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${formatManager(manager)}`,
    field: formatPath(path),
  }));
  const [first] = causes;
  const message =
    first !== undefined && causes.length === 1
      ? `Apply failed with 1 conflict: ${first.message}: ${first.field}`
      : `Apply failed with ${causes.length} conflicts: ${byManager(conflicts)}`;
  return new Failure(409, { reason: "Conflict", message, details: { causes } });
}

/** A line for each manager, and one for each of its fields. */
function byManager(conflicts: readonly OwnershipConflict[]): string {
  const names = new Set(conflicts.map(({ manager }) => formatManager(manager)));
  const lines = [...names]
    .sort()
    .flatMap((name) => [
      `conflicts with ${name}:`,
      ...conflicts
        .filter(({ manager }) => formatManager(manager) === name)
        .map(({ path }) => `- ${formatPath(path)}`),
    ]);
  return lines.join("\n");
}

function formatManager({ name, subresource, operation, apiVersion }: Manager): string {
  const below = subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`;
  const using = operation === "Update" ? ` using ${apiVersion}` : "";
  return `${JSON.stringify(name)}${below}${using}`;
}
