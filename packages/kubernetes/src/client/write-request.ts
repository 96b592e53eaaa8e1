import { type Kinds, requireOptions, show } from "@holdfast/kit";
import { requireOwnersNearby } from "../object/known-owners.ts";
import type { CachedObject, DeepReadonly, KubeObject, ObjectMeta } from "../object/kube-object.ts";
import { requireWritable } from "../object/metadata-of.ts";
import { type ObjectName, type ObjectRef, parseRef } from "../object/object-ref.ts";
import type { Resource } from "../object/resource.ts";
import { collectionPath, objectPath } from "../object/resource-path.ts";
import type { ApiRequest } from "./api-request.ts";
import type { ApplyUpgrade } from "./apply-upgrade.ts";
import {
  APPLY_OPTIONS,
  DELETE_COLLECTION_OPTIONS,
  DELETE_OPTIONS,
  type KubeApplyOptions,
  type KubeDeleteCollectionOptions,
  type KubeDeleteOptions,
  type KubeUpgradeOptions,
  type KubeWriteOptions,
  type Limits,
  type ResolvedWrite,
  resolveDelete,
  resolveUpgrade,
  resolveWrite,
  WRITE_OPTIONS,
} from "./call-options.ts";
import type { ClientWrite } from "./client-write.ts";
import { collectionRequest } from "./collection-request.ts";
import { requireExact } from "./exact-json.ts";
import { bodyOf, isOwnKind, refOf } from "./written-object.ts";

/** A write before its response: the request, the limits of the call, and the facts for `onWrite`. */
export interface PendingWrite {
  readonly request: ApiRequest;
  readonly limits: Limits;
  readonly facts: Omit<ClientWrite, "response" | "uid" | "ref"> & {
    /** Without a name if the server makes it. */
    readonly ref: Partial<ObjectName>;
  };
  /** Whether the object has no name, before and after. */
  readonly isNameless?: boolean;
}

/** Resource, object and options as a user passed them. */
interface Arguments<Options> {
  readonly resource: Resource;
  readonly object: DeepReadonly<KubeObject>;
  readonly options: Options;
  /** Field manager of the client. */
  readonly manager: string;
}

/**
 * The body and the options of a write.
 *
 * @throws RangeError or TypeError for a bad argument
 */
function resolveBody<Options extends KubeWriteOptions>(
  { resource, object, options, manager }: Arguments<Options>,
  door: string,
  kinds: Kinds<NoInfer<Options>>,
): ResolvedWrite & { body: Arguments<Options>["object"] } {
  requireWritable(resource, door);
  requireOptions("object", object);
  const resolved = resolveWrite(options, manager, door, kinds);
  const body = bodyOf(resource, object, resolved.subresource);
  requireExactFields(body, door, resolved.subresource);
  if (isOwnKind(resolved.subresource))
    requireOwnersNearby(resource, body.metadata ?? {}, body.metadata?.ownerReferences);
  return { ...resolved, body };
}

/** @throws RangeError that names a field with an integer that was changed when it was read */
function requireExactFields(object: object, door: string, subresource: string | undefined): void {
  // The server ignores the rest of an update of the status.
  const isStatus = door === "update" && subresource === "status";
  const { status } = object as { status?: unknown };
  if (isStatus) requireExact(status, "object.status");
  else requireExact(object, "object");
}

/** @throws RangeError or TypeError for a bad argument */
export function createRequest(given: Arguments<KubeWriteOptions>): PendingWrite {
  const { resource } = given;
  const { body, subresource, dryRun, query, ...limits } = resolveBody(
    given,
    "create",
    WRITE_OPTIONS,
  );
  const { namespace } = body.metadata ?? {};
  const naming = subresource === undefined ? namingOf(resource, body) : "given";
  // A server makes the rest of the name: the check uses any valid name in its place.
  const ref = naming === "given" ? refOf(body) : refOf({ metadata: { name: "x", namespace } });
  parseRef(resource, ref);
  const path =
    subresource === undefined
      ? collectionPath(resource, namespace || undefined)
      : objectPath(resource, ref, subresource);
  const known = naming === "given" ? ref : { ...(namespace === undefined ? {} : { namespace }) };
  return {
    request: { method: "POST", path, query, body },
    limits,
    facts: { resource, verb: "create", ref: known, subresource, dryRun },
    isNameless: naming === "none",
  };
}

/** Who names an object. A question that the server answers and does not store, as a TokenReview, has no name. */
function namingOf(
  { kind }: Resource,
  { metadata }: DeepReadonly<KubeObject>,
): "given" | "generated" | "none" {
  const { name, generateName } = metadata ?? {};
  if (name !== undefined) return "given";
  if (generateName !== undefined) return "generated";
  return kind.endsWith("Review") ? "none" : "given";
}

/** @throws RangeError or TypeError for a bad argument, for example an object without a version */
export function updateRequest(given: Arguments<KubeWriteOptions>): PendingWrite {
  const { resource } = given;
  const { body, subresource, dryRun, query, ...limits } = resolveBody(
    given,
    "update",
    WRITE_OPTIONS,
  );
  const ref = refOf(body);
  const { resourceVersion } = body.metadata as ObjectMeta; // it has a name
  const isVersioned = isOwnKind(subresource) || resourceVersion !== undefined;
  if (isVersioned && (typeof resourceVersion !== "string" || resourceVersion === ""))
    throw new TypeError(
      "object.metadata.resourceVersion must be the version that the object was read with, got none: use modify() or apply()",
    );
  const path = objectPath(resource, ref, subresource);
  return {
    request: { method: "PUT", path, query, body },
    limits,
    facts: { resource, verb: "update", ref, subresource, dryRun },
  };
}

/** @throws RangeError or TypeError for a bad argument */
export function patchRequest(
  given: Omit<Arguments<KubeWriteOptions>, "object"> & {
    readonly ref: ObjectRef;
    readonly patch: object;
  },
): PendingWrite {
  const { resource, patch } = given;
  requireWritable(resource, "patch");
  if (!Array.isArray(patch)) requireOptions("patch", patch); // an array is a JSON Patch
  const { subresource, dryRun, query, ...limits } = resolveWrite(
    given.options,
    given.manager,
    "patch",
    WRITE_OPTIONS,
  );
  requireExact(patch, "patch");
  requireOwnersNearby(resource, { ...parseRef(resource, given.ref) }, ownersIn(patch));
  const path = objectPath(resource, given.ref, subresource);
  const contentType = `application/${Array.isArray(patch) ? "json-patch" : "merge-patch"}+json`;
  return {
    request: { method: "PATCH", path, query, body: patch, contentType },
    limits,
    facts: { resource, verb: "patch", ref: parseRef(resource, given.ref), subresource, dryRun },
  };
}

/** @throws RangeError or TypeError for a bad argument */
export function upgradeRequest(given: {
  readonly resource: Resource;
  readonly ref: ObjectRef;
  readonly options: KubeUpgradeOptions;
  readonly manager: string;
}): { readonly pending: PendingWrite; readonly upgrade: ApplyUpgrade } {
  const { resource, ref } = given;
  requireWritable(resource, "upgradeToApply");
  const { from, manager, query, dryRun, subresource, ...limits } = resolveUpgrade(
    given.options,
    given.manager,
  );
  const path = objectPath(resource, ref);
  const contentType = "application/json-patch+json";
  const facts = {
    resource,
    verb: "patch",
    ref: parseRef(resource, ref),
    subresource,
    dryRun,
  } as const;
  const request = { method: "PATCH", path, query, contentType } as const;
  return { pending: { request, limits, facts }, upgrade: { from, manager } };
}

/** The owners that a patch adds. */
function ownersIn(patch: object): unknown {
  if (!Array.isArray(patch)) return (patch as KubeObject).metadata?.ownerReferences;
  const operations = patch as readonly { readonly path?: unknown; readonly value?: unknown }[];
  const values = operations.flatMap(({ path, value }): unknown => {
    if (path === "") return (value as KubeObject | null)?.metadata?.ownerReferences;
    if (path === "/metadata") return (value as ObjectMeta | null)?.ownerReferences;
    return String(path).startsWith("/metadata/ownerReferences") ? value : [];
  });
  return values.filter((value) => typeof value === "object" && value !== null);
}

/** A write by server-side apply. */
export interface PendingApply extends PendingWrite {
  /** UID of the controller that the object must have, if it exists. Undefined for any. */
  readonly controller: string | undefined;
}

/** @throws RangeError or TypeError for a bad argument */
export function applyRequest(given: Arguments<KubeApplyOptions>): PendingApply {
  const { resource } = given;
  const { body, subresource, dryRun, query, ...limits } = resolveBody(
    given,
    "apply",
    APPLY_OPTIONS,
  );
  const { fieldManager, ...more } = query;
  const { force = true, owned = false, cached } = given.options;
  const ref = refOf(body);
  if (cached !== undefined) requireSameObject(cached, body);
  // An apply with them is refused, and an object that was read has them.
  const { managedFields: _, ...metadata } = body.metadata as ObjectMeta; // it has a name
  const path = objectPath(resource, ref, subresource);
  // JSON is YAML too, and servers before 1.33 know the patch by this name only.
  const contentType = "application/apply-patch+yaml";
  return {
    request: {
      method: "PATCH",
      path,
      query: { fieldManager, force, ...more },
      body: { ...body, metadata },
      contentType,
    },
    limits,
    facts: { resource, verb: "apply", ref, subresource, dryRun },
    controller: owned ? requireController(body) : undefined,
  };
}

/** UID of the controller of an object. */
export function controllerOf({ metadata }: DeepReadonly<KubeObject>): string | undefined {
  return metadata?.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

/** @throws TypeError or RangeError if an object of an informer has another name than the object to apply */
function requireSameObject(cached: CachedObject, { metadata }: DeepReadonly<KubeObject>): void {
  requireOptions("options.cached", cached);
  requireOptions("options.cached.metadata", cached.metadata);
  for (const name of ["name", "namespace"] as const)
    if (cached.metadata[name] !== metadata?.[name])
      throw new RangeError(
        `options.cached.metadata.${name} must be that of the object, ${show(metadata?.[name])}, got ${show(cached.metadata[name])}`,
      );
}

function requireController(object: DeepReadonly<KubeObject>): string {
  const uid = controllerOf(object);
  if (uid) return uid;
  throw new TypeError(
    "options.owned needs an owner with controller: true in object.metadata.ownerReferences, got none: see ownerReference()",
  );
}

/** @throws RangeError or TypeError for a bad argument */
export function deleteRequest(
  resource: Resource,
  ref: ObjectRef,
  options: KubeDeleteOptions,
): PendingWrite {
  requireWritable(resource, "delete");
  const path = objectPath(resource, ref);
  const { body, dryRun, ...limits } = resolveDelete(options, "delete", DELETE_OPTIONS);
  return {
    request: { method: "DELETE", path, body },
    limits,
    facts: {
      resource,
      verb: "delete",
      ref: parseRef(resource, ref),
      subresource: undefined,
      dryRun,
    },
  };
}

/** @throws RangeError or TypeError for a bad argument */
export function deleteCollectionRequest(
  resource: Resource,
  options: KubeDeleteCollectionOptions,
): Pick<PendingWrite, "request" | "limits"> {
  requireWritable(resource, "deleteCollection");
  const {
    body,
    dryRun: _,
    ...limits
  } = resolveDelete(options, "deleteCollection", DELETE_COLLECTION_OPTIONS);
  const { namespace, labels, fields } = options;
  const request = collectionRequest({ resource, namespace, labels, fields }, "list");
  return { request: { ...request, method: "DELETE", body }, limits };
}
