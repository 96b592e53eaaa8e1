import { flag, type Kinds, read, requireOptions } from "@holdfast/kit";
import { requireResource } from "@holdfast/kit/kubernetes";
import type { ObjectChange } from "../cache/change.ts";
import { rememberOwner } from "../object/known-owners.ts";
import type { DeepReadonly, KubeObject, OwnerReference } from "../object/kube-object.ts";
import type { Resource } from "../object/resource.ts";

/** Options for {@link ownerOf}. */
export interface OwnerOfOptions {
  /**
   * Whether every owner is woken, not the controller alone. An object has at most one controller, and any number of
   * other owners: whoever writes it can wake that many keys.
   *
   * @defaultValue `false`
   */
  readonly everyOwner?: boolean | undefined;
}

export const OWNER_OF_OPTIONS: Kinds<OwnerOfOptions> = { everyOwner: flag };

/**
 * Maps a change to the key of the controller of its object, before and after it: the owner with `controller: true`, as
 * {@link ownerReference} makes it. Pass the result as `to` of a source, so that a change of a child wakes its owner.
 *
 * An owner matches by group and kind, in any version. Its key has the namespace of the object, or none
 * for a resource of cluster scope.
 *
 * Source: `EnqueueRequestForOwner` with `OnlyControllerOwner` of sigs.k8s.io/controller-runtime/pkg/handler.
 *
 * @param owner - resource of the owners
 * @param options - see {@link OwnerOfOptions}
 * @returns a function from a change to keys, each once
 * @throws RangeError or TypeError for a bad argument
 *
 * @example
 * ```ts
 * import { builtIn, type ObjectChange, ownerOf } from "@holdfast/kubernetes";
 *
 * const owned = {
 *   apiVersion: "v1",
 *   kind: "Pod",
 *   metadata: {
 *     ...{ namespace: "default", name: "web-1", uid: "2", resourceVersion: "7", creationTimestamp: "" },
 *     ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "1", controller: true }],
 *   },
 * };
 * const change: ObjectChange = {
 *   type: "added", key: "default/web-1", old: undefined, object: owned, isInitial: false, isGuess: false,
 * };
 * console.log(ownerOf(builtIn("apps/v1", "ReplicaSet"))(change)); // => [ 'default/web' ]
 * ```
 */
export function ownerOf(
  owner: Resource,
  options: OwnerOfOptions = {},
): (change: Pick<ObjectChange, "object" | "old">) => readonly string[] {
  requireResource(owner);
  const { everyOwner = false } = read("options", options, "ownerOf", OWNER_OF_OPTIONS);
  const { group, kind, scope } = owner;
  const isOwner = (reference: DeepReadonly<OwnerReference>): boolean =>
    (everyOwner || reference.controller === true) &&
    reference.kind === kind &&
    groupOf(reference.apiVersion) === group;
  const keysOf = ({ metadata }: ObjectChange["object"]): string[] => {
    const { namespace, ownerReferences = [] } = metadata;
    const names = ownerReferences.filter(isOwner).map(({ name }) => name);
    if (scope === "Cluster") return names;
    return namespace === undefined ? [] : names.map((name) => `${namespace}/${name}`);
  };
  return ({ object, old = object }) => [...new Set([...keysOf(object), ...keysOf(old)])];
}

/**
 * The entry for `metadata.ownerReferences` that makes `object` the controller of another object. The server
 * then deletes the other one after it.
 *
 * The other object must be in the namespace of the owner, or the owner of cluster scope: a client refuses any other write
 * with a RangeError, because a server accepts it, and then deletes the object, or never.
 *
 * @param resource - resource of the owner
 * @param object - the owner, as the server or an informer returned it
 * @returns a new reference, with `controller: true`
 * @throws TypeError if the owner has no name or no UID
 *
 * @example
 * ```ts
 * import { builtIn, ownerReference } from "@holdfast/kubernetes";
 *
 * const owner = { metadata: { namespace: "default", name: "web", uid: "1" } };
 * const { kind, name, controller } = ownerReference(builtIn("apps/v1", "Deployment"), owner);
 * console.log(kind, name, controller); // => Deployment web true
 * ```
 */
export function ownerReference(
  resource: Resource,
  object: DeepReadonly<KubeObject>,
): OwnerReference {
  requireResource(resource);
  requireOptions("object", object);
  const { name, uid, namespace } = object.metadata ?? {};
  if (!name || !uid)
    throw new TypeError(
      `object must be a stored ${resource.kind}, with metadata.name and metadata.uid, got one without`,
    );
  const { apiVersion, kind, scope } = resource;
  const reference = { apiVersion, kind, name, uid, controller: true };
  if (scope === "Namespaced" && namespace !== undefined) rememberOwner(reference, namespace);
  return reference;
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
}
