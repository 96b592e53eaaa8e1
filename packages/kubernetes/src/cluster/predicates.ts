import type { ObjectChange } from "../cache/change.ts";

/**
 * Whether a change is more than one of status or metadata: an addition, a deletion, or another generation.
 * Pass it as `when` of a source.
 *
 * A deletion mark raises the generation, so finalizers are not missed. Objects without a generation
 * (ConfigMap, Secret, Service) always pass. A custom resource without the subresource `status` raises its
 * generation with its own status as well.
 *
 * Source: `GenerationChangedPredicate` of sigs.k8s.io/controller-runtime/pkg/predicate.
 *
 * @param change - a change of an informer
 * @returns whether it passes
 *
 * @example
 * ```ts
 * import { type CachedObject, type ObjectChange, generationChanged, type KubeObject } from "@holdfast/kubernetes";
 *
 * const at = (resourceVersion: string, generation: number): CachedObject<KubeObject> => ({
 *   apiVersion: "example.org/v1",
 *   kind: "Greeting",
 *   metadata: { name: "ann", uid: "1", creationTimestamp: "", resourceVersion, generation },
 * });
 * const change: ObjectChange = {
 *   type: "updated", key: "ann", old: at("1", 1), object: at("2", 1), isInitial: false, isGuess: false,
 * };
 * console.log(generationChanged(change)); // => false
 * console.log(generationChanged({ ...change, object: at("2", 2) })); // => true
 * ```
 */
export function generationChanged(change: Pick<ObjectChange, "type" | "object" | "old">): boolean {
  const before = change.old?.metadata.generation;
  const after = change.object.metadata.generation;
  return change.type !== "updated" || before === undefined || before !== after;
}
