import type { DeepReadonly, ObjectMeta, OwnerReference } from "./kube-object.ts";
import type { ObjectName } from "./object-ref.ts";
import type { Resource } from "./resource.ts";

/** Owners that are remembered. A reference is written soon after it was made. */
const MAX_OWNERS = 1_000;

/** The places of the owners that references were made for, by UID: a reference itself has no namespace. */
const PLACES = new Map<
  string,
  ObjectName & { readonly kind: string; readonly namespace: string }
>();

/** Remembers the namespace of an owner. */
export function rememberOwner({ kind, name, uid }: OwnerReference, namespace: string): void {
  PLACES.delete(uid);
  PLACES.set(uid, { kind, name, namespace });
  const [oldest = ""] = PLACES.keys();
  if (PLACES.size > MAX_OWNERS) PLACES.delete(oldest);
}

/**
 * Checks the owners of an object that is about to be written. A server takes an owner in another namespace, and deletes the
 * object then, or never.
 *
 * @throws RangeError that names the object and the owner
 */
export function requireOwnersNearby(
  { kind, scope }: Resource,
  { name = "", namespace }: DeepReadonly<ObjectMeta>,
  owners: unknown,
): void {
  if (!Array.isArray(owners)) return;
  // The write of a namespaced object without a namespace has an error of its own.
  if (scope === "Namespaced" && namespace === undefined) return;
  const foreign = owners
    .map(placeOf)
    .find((place) => place !== undefined && (scope === "Cluster" || place.namespace !== namespace));
  if (foreign === undefined) return;
  const child = [namespace, name].filter(Boolean).join("/");
  const where = scope === "Cluster" ? "is of cluster scope" : "is in another namespace";
  throw new RangeError(
    `${kind} ${child} ${where}: it must not be owned by ${foreign.kind} ${foreign.namespace}/${foreign.name}, as a cluster would delete or leak it. Use a label, and a finalizer of the owner`,
  );
}

/** The place of an owner that is known, and is this one. */
function placeOf({ uid = "", kind, name }: Partial<OwnerReference>) {
  const place = PLACES.get(uid);
  return place?.kind === kind && place?.name === name ? place : undefined;
}
