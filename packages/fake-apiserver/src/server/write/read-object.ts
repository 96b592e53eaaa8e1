import { wrong } from "../../object/cause.ts";
import { isObject, type JsonObject, metadataOf, parseJson } from "../../object/json.ts";
import { badRequest, type Failure, invalid, unsupportedMediaType } from "../failure.ts";
import type { ApiCall } from "../request/api-call.ts";
import { decode, decodeFailure } from "../resource/decode.ts";
import type { ServedResource } from "../resource/served-resource.ts";

/**
 * The object in the body of a create or an update.
 *
 * @throws Failure if the body is not an object of the resource, or belongs to another name or namespace
 */
export function readObject(call: ApiCall): JsonObject {
  requireJson(call);
  const parsed = parseJson(call.body ?? "");
  // A server reads null as an empty object of a built-in type.
  const object = parsed === null && call.served.isBuiltIn ? {} : parsed;
  if (!isObject(object)) throw badRequest("the body of the request must be a JSON object");
  requireType(call, object);
  return requirePlace(call, decode(call, object));
}

const JSON_TYPE = "application/json";

/** Types that a server reads and FakeApi does not. */
const UNREAD: ReadonlySet<string> = new Set([
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
]);

/** @throws Failure for a body of another type. A body without a type is JSON */
export function requireJson({ headers }: ApiCall): void {
  const [type = "", ...parameters] = (headers["content-type"] || JSON_TYPE).split(";");
  const name = type.trim().toLowerCase();
  const isFormed = parameters.every((one) => one.trim() === "" || one.includes("="));
  if (name === JSON_TYPE && isFormed) return;
  throw unsupportedMediaType(UNREAD.has(name) ? [JSON_TYPE] : [JSON_TYPE, ...UNREAD]);
}

/** Whether a write is one of the status of a custom object: a server takes its status, and the rest as it was. */
export function isOfStatusAlone({ served, subresource }: ApiCall): boolean {
  return subresource === "status" && !served.isBuiltIn;
}

/** Checks API version and kind. A built-in type may leave them out. */
function requireType(call: ApiCall, object: JsonObject): void {
  const { served } = call;
  const { apiVersion, kind } = object;
  const canMiss = (value: unknown): boolean => served.isBuiltIn && value === undefined;
  if ((typeof kind !== "string" || kind === "") && !canMiss(kind))
    throw badRequest("Object 'Kind' is missing in the body of the request");
  if (kind !== served.kind && !canMiss(kind) && !isOfStatusAlone(call))
    throw otherKind(served, object);
  if (apiVersion !== served.apiVersion && !canMiss(apiVersion))
    throw badRequest(
      `the API version in the data (${apiVersion ?? ""}) does not match the expected API version (${served.apiVersion})`,
    );
}

function otherKind(served: ServedResource, object: JsonObject): Failure {
  const kind = object["kind"] as string;
  if (served.isBuiltIn || object["apiVersion"] !== served.apiVersion)
    return badRequest(`${kind} cannot be handled as a ${served.kind}`);
  const { name } = metadataOf(object);
  const subject = { group: served.group, plural: kind };
  const cause = wrong("kind", kind, `must be ${served.kind}`);
  return invalid(subject, typeof name === "string" ? name : "", [cause]);
}

/**
 * Checks API version and kind after a patch.
 *
 * @throws Failure if the patch has changed them
 */
export function requirePatchedType(call: ApiCall, patched: JsonObject): void {
  const { served, name } = call;
  const { apiVersion, kind } = patched;
  const given = { kind: String(kind ?? ""), apiVersion: String(apiVersion ?? "") };
  const changed = (["kind", "apiVersion"] as const).filter(
    (field) => given[field] !== served[field] && !(served.isBuiltIn && given[field] === ""),
  );
  if (changed.length === 0) return;
  if (isOfStatusAlone(call) && given.kind !== "" && given.apiVersion !== "") return;
  if (served.isBuiltIn || given.kind === "")
    throw decodeFailure(
      call,
      `${changed.join(" and ")} must be those of a ${served.kind}`,
      patched,
    );
  const causes = changed.map((field) => wrong(field, given[field], `must be ${served[field]}`));
  const group = given.apiVersion.includes("/") ? (given.apiVersion.split("/")[0] as string) : "";
  throw invalid({ group, plural: given.kind }, name, causes);
}

function requireName(call: ApiCall, name: unknown): void {
  if (call.name === "" || name === call.name) return;
  throw badRequest(
    name
      ? `the name of the object (${name}) does not match the name on the URL (${call.name})`
      : `the name of the object (${call.name} based on URL) was undeterminable: name must be provided`,
  );
}

/**
 * Checks name and namespace against the path.
 *
 * @returns the object with the namespace of the path
 */
export function requirePlace(call: ApiCall, object: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  if (call.verb !== "create") requireName(call, metadata["name"]);
  requireSamePlace(call, object);
  const place = call.namespace === undefined ? {} : { namespace: call.namespace };
  return { ...object, metadata: { ...metadata, ...place } };
}

/** @throws Failure for an object of another namespace */
export function requireSamePlace(call: ApiCall, object: JsonObject): void {
  const { namespace = "" } = metadataOf(object);
  if (namespace !== "" && namespace !== (call.namespace ?? ""))
    throw badRequest(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
}
