import type { CachedObject, JsonPatchOperation, KubeObject } from "../object/kube-object.ts";

/** The part of an object that finalizers are about. */
export interface FinalizedObject {
  readonly metadata: {
    readonly uid: string;
    readonly deletionTimestamp?: string | undefined;
    readonly finalizers?: readonly string[] | undefined;
  };
}

/**
 * The next step for an object with regard to one finalizer.
 *
 * | Being deleted | Has the finalizer | Step |
 * | --- | --- | --- |
 * | no | no | `"add"` |
 * | no | yes | `"apply"` |
 * | yes | yes | `"cleanup"` |
 * | yes | no | `"none"`: others clean up |
 */
export type FinalizerStep = "add" | "apply" | "cleanup" | "none";

/** The next step; see {@link FinalizerStep}. */
export function finalizerStep({ metadata }: FinalizedObject, name: string): FinalizerStep {
  const isOurs = metadata.finalizers?.includes(name) === true;
  if (metadata.deletionTimestamp === undefined) return isOurs ? "apply" : "add";
  return isOurs ? "cleanup" : "none";
}

/**
 * Appends the finalizer. The whole list is tested: a stale copy would otherwise add it twice. A missing list
 * equals null in a test of Kubernetes.
 */
export function additionOf({ metadata }: FinalizedObject, name: string): JsonPatchOperation[] {
  const { uid, finalizers = [] } = metadata;
  const isEmpty = finalizers.length === 0;
  return [
    sameObject(uid),
    { op: "test", path: "/metadata/finalizers", value: isEmpty ? null : finalizers },
    isEmpty
      ? { op: "add", path: "/metadata/finalizers", value: [name] }
      : { op: "add", path: "/metadata/finalizers/-", value: name },
  ];
}

/** Removes the finalizer at its index, if it is still there. */
export function removalOf({ metadata }: FinalizedObject, name: string): JsonPatchOperation[] {
  const { uid, finalizers = [] } = metadata;
  const path = `/metadata/finalizers/${finalizers.indexOf(name)}`;
  return [sameObject(uid), { op: "test", path, value: name }, { op: "remove", path }];
}

/** An object that was deleted and created again under its name is another one. */
function sameObject(uid: string): JsonPatchOperation {
  return { op: "test", path: "/metadata/uid", value: uid };
}

/** `object` as far as finalizers are concerned. */
export function finalizedPart<T extends KubeObject>(object: CachedObject<T>): FinalizedObject {
  return object as unknown as FinalizedObject;
}
