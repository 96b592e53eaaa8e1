import { callSafely } from "@holdfast/kit";
import { isEqual, isObject, type JsonObject, own, propertiesOf } from "@holdfast/kit/kubernetes";
import type { Resource } from "../object/resource.ts";
import { difference } from "./difference.ts";
import { fitsSchema } from "./fits-schema.ts";
import { ReviewCall, type ReviewCause } from "./review-call.ts";
import type {
  AdmissionRequest,
  AdmissionResponse,
  WebhookCaller,
  WebhookConfiguration,
  WebhookContext,
} from "./webhook.ts";

/** A handler of either type. */
export type Handler = (review: never, context: WebhookContext) => unknown;

/** A review of a webhook. */
export interface Reviewed {
  readonly resource: Resource<never, never>;
  readonly configuration: WebhookConfiguration;
  /** Whether updates that leave the spec alone are none of its business. */
  readonly onSpec: boolean;
  readonly request: AdmissionRequest;
  readonly caller: WebhookCaller;
  readonly handlerFor: (context: WebhookContext) => Handler;
}

type Answer = (reviewed: Reviewed, name: string) => Promise<AdmissionResponse>;

const NO_CONTEXT = {} as WebhookContext;

/** @throws TypeError for a request that is none */
export function requireRequest(request: AdmissionRequest): void {
  if (!isObject(request)) throw new TypeError("request must be that of an AdmissionReview");
  const { uid, operation, object, oldObject } = request;
  if (typeof uid !== "string" || typeof operation !== "string")
    throw new TypeError("request must have uid and operation, two strings");
  for (const one of [object, oldObject])
    if (one !== undefined && one !== null && !isObject(one))
      throw new TypeError("request must have objects in object and oldObject");
}

/** Answers a review; an error of the handler is an answer. */
export async function reviewOf(reviewed: Reviewed, answer: Answer): Promise<AdmissionResponse> {
  const { request, onSpec } = reviewed;
  const { uid, object, oldObject, operation } = request;
  // An object that is being deleted must lose its finalizers, whatever has become of it.
  if (onSpec && operation === "UPDATE" && metadataOf(oldObject)["deletionTimestamp"] !== undefined)
    return { uid, allowed: true };
  const name = [request.name, ...[oldObject, object].map((one) => metadataOf(one)["name"])].find(
    (one): one is string => typeof one === "string" && one !== "",
  );
  try {
    return await answer(reviewed, name ?? "");
  } catch (err) {
    return failed(reviewed, name ?? "", err);
  }
}

function failed(reviewed: Reviewed, name: string, err: unknown): AdmissionResponse {
  const { resource, configuration, request, caller } = reviewed;
  const { uid, namespace } = request;
  const { kind } = resource;
  const isRefused = configuration.type === "mutating" && !fits(resource, request.object);
  const details = { webhook: configuration.name, uid, kind, namespace, name, err };
  const level = isRefused ? "debug" : "error";
  callSafely(() => caller.context?.logger?.[level](details, "webhook failed"));
  if (isRefused) return { uid, allowed: true };
  const status = {
    status: "Failure",
    code: 500,
    reason: "InternalError",
    message: "webhook failed",
  };
  return { uid, allowed: false, status };
}

function callFor({ request, caller }: Reviewed, object: unknown, name: string): ReviewCall {
  return new ReviewCall(request, object, name, caller);
}

function handled(reviewed: Reviewed, call: ReviewCall): unknown {
  const context = (reviewed.caller.context ?? NO_CONTEXT) as WebhookContext;
  return reviewed.handlerFor(context)(call as never, context);
}

function allowed({ warnings }: ReviewCall, response: AdmissionResponse): AdmissionResponse {
  return warnings.length === 0 ? response : { ...response, warnings };
}

/** The words of the API server for the kinds of reasons. */
const WORDS: Readonly<Record<string, string>> = {
  FieldValueInvalid: "Invalid value",
  FieldValueRequired: "Required value",
  FieldValueForbidden: "Forbidden",
  FieldValueDuplicate: "Duplicate value",
  FieldValueNotFound: "Not found",
  FieldValueNotSupported: "Unsupported value",
};

export async function validated(reviewed: Reviewed, name: string): Promise<AdmissionResponse> {
  const { resource, request } = reviewed;
  const { uid } = request;
  const call = callFor(reviewed, request.object ?? request.oldObject, name);
  const causes = requireCauses(await handled(reviewed, call));
  if (causes.length === 0) return allowed(call, { uid, allowed: true });
  const { kind, group } = resource;
  const texts = causes.map(({ field, message }) =>
    field === "" ? message : `${field}: ${message}`,
  );
  const why = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  const status = {
    status: "Failure",
    code: 422,
    reason: "Invalid",
    message: `${group === "" ? kind : `${kind}.${group}`} ${JSON.stringify(name)} is invalid: ${why}`,
    details: { name, ...(group !== "" && { group }), kind, causes },
  };
  return allowed(call, { uid, allowed: false, status });
}

interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

function requireCauses(returned: unknown): readonly StatusCause[] {
  if (returned === undefined || returned === null) return [];
  if (!Array.isArray(returned))
    throw new TypeError(`handle must return an array of causes or nothing, got ${typeof returned}`);
  return returned.map((cause: ReviewCause) => {
    const { field = "", message, reason = "FieldValueInvalid" } = cause;
    const words = Object.hasOwn(WORDS, reason) ? WORDS[reason] : undefined;
    if (typeof message !== "string" || typeof field !== "string" || words === undefined)
      throw new TypeError("handle must return causes of { field, message, reason }");
    return { reason, message: `${words}: ${message}`, field };
  });
}

/** Metadata that a mutation must leave alone. The server takes another name of a new object without a word. */
const FIXED = [
  ...["name", "generateName", "namespace", "uid", "resourceVersion", "generation"],
  ...["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"],
];

export async function mutated(reviewed: Reviewed, name: string): Promise<AdmissionResponse> {
  const { uid, object } = reviewed.request;
  if (!isObject(object)) return { uid, allowed: true };
  const call = callFor(reviewed, copyOf(object), name);
  await handled(reviewed, call);
  requireUnchanged(object, call.object);
  const patch = difference(object, call.object);
  if (patch.length === 0) return allowed(call, { uid, allowed: true });
  const text = Buffer.from(JSON.stringify(patch), "utf8").toString("base64");
  return allowed(call, { uid, allowed: true, patchType: "JSONPatch", patch: text });
}

/** A copy of JSON: a fifth of the time that text takes. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, "__proto__")) return JSON.parse(JSON.stringify(value));
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) copy[key] = copyOf(value[key]);
  return copy;
}

function requireUnchanged(before: JsonObject, after: unknown): void {
  const changed = isObject(after) ? after : {};
  const from = metadataOf(before);
  const to = metadataOf(changed);
  const fixed = [
    ...["apiVersion", "kind"].map((key) => [key, own(before, key), own(changed, key)] as const),
    ...FIXED.map((key) => [`metadata.${key}`, own(from, key), own(to, key)] as const),
  ];
  for (const [path, was, is] of fixed)
    if (!isEqual(was, is)) throw new Error(`handle must not change ${path} of the object`);
}

function metadataOf(object: unknown): JsonObject {
  const metadata = isObject(object) ? own(object, "metadata") : undefined;
  return isObject(metadata) ? metadata : {};
}

interface Version {
  readonly name?: unknown;
  readonly schema?: { readonly openAPIV3Schema?: unknown };
}

/** Whether the schema of a resource takes an object. Without a schema it does. */
function fits({ crd, version }: Resource<never, never>, object: unknown): boolean {
  const spec = (crd as { spec?: { versions?: readonly Version[] } } | undefined)?.spec;
  const schema = spec?.versions?.find(({ name }) => name === version)?.schema?.openAPIV3Schema;
  if (!isObject(schema)) return true;
  return fitsSchema({ type: "object", ...schema, properties: propertiesOf(schema) }, object);
}
