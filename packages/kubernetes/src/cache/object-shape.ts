import { keepApplyEntries } from "../object/apply-entries.ts";
import type { CachedObject, KubeObject, StoredObject } from "../object/kube-object.ts";
import type { Resource } from "../object/resource.ts";
import type { ServerObject } from "../object/server-object.ts";

/** Options for {@link shapeOf}. */
export interface ObjectShapeOptions {
  readonly resource: Resource;
  readonly transform: (object: StoredObject<KubeObject>) => KubeObject;
}

/** How an object of the server, which no other code holds, becomes one of the cache. */
export type ObjectShape = (object: ServerObject) => CachedObject;

/** @returns a shape that throws the error of `transform`, and a TypeError if that changed a field that identifies the object */
export function shapeOf({ resource, transform }: ObjectShapeOptions): ObjectShape {
  const { apiVersion, kind, metadataOnly } = resource;
  return function toCached(object) {
    const { metadata } = object;
    const { name, namespace, uid, resourceVersion, managedFields } = metadata;
    const isTyped = object.apiVersion === apiVersion && object.kind === kind;
    const whole = metadataOnly
      ? { apiVersion, kind, metadata }
      : isTyped
        ? (object as StoredObject<KubeObject>)
        : { ...object, apiVersion, kind };
    const shaped = transform(whole) as CachedObject | undefined;
    const kept = shaped?.metadata;
    if (
      kept?.uid !== uid ||
      kept.resourceVersion !== resourceVersion ||
      kept.name !== name ||
      kept.namespace !== namespace
    )
      throw new TypeError(
        `options.transform of a ${kind} must return an object with the same name, namespace, uid and resourceVersion`,
      );
    keepApplyEntries(shaped as CachedObject, managedFields);
    return freezeDeep(shaped as CachedObject);
  };
}

/** The default transform. `managedFields` are a third of most objects, and reconcilers do not read them. */
export function withoutManagedFields(object: StoredObject<KubeObject>): KubeObject {
  // Not `delete`: it would turn the metadata into a dictionary, which is larger.
  const { managedFields, ...metadata } = object.metadata;
  return managedFields === undefined ? object : { ...object, metadata };
}

/** Freezes a value of JSON at every depth, and returns it. Runs for each event: `Object.values` would make an array each. */
function freezeDeep<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) for (const item of value) freezeDeep(item);
  else for (const name in value) freezeDeep(value[name]);
  return Object.freeze(value);
}
