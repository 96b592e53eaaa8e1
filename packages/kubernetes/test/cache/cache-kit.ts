import {
  type CachedObject,
  customResource,
  type KubeObject,
  type ObjectChange,
  type Resource,
} from "@holdfast/kubernetes";
import { type ObjectShapeOptions, shapeOf } from "../../src/cache/object-shape.ts";
import { Scope, type ScopeOptions } from "../../src/cache/scope.ts";
import { type Consistency, type ObjectEvent, Store } from "../../src/cache/store.ts";
import type { ServerObject } from "../../src/object/server-object.ts";

export const Greeting: Resource = customResource<KubeObject>({
  apiVersion: "example.org/v1",
  kind: "Greeting",
  plural: "greetings",
});

/** An object as a server sends it. */
export function greeting(
  name: string,
  version: number | string,
  { uid = "u1", ...metadata }: Partial<ServerObject["metadata"]> = {},
): ServerObject {
  return {
    metadata: {
      namespace: "default",
      name,
      uid,
      resourceVersion: String(version),
      creationTimestamp: "2000-01-01T00:00:00Z",
      labels: { app: "a" },
      ...metadata,
    },
  };
}

/** A store of greetings, and the changes it told. */
export function storeOf(
  scope: Partial<ScopeOptions> = {},
  shape: Partial<ObjectShapeOptions> = {},
): Store & { readonly told: ObjectChange[] } {
  const options = {
    resource: Greeting,
    transform: (object: KubeObject) => object,
  };
  const store = new Store(
    shapeOf({ ...options, ...shape }),
    new Scope({ namespace: undefined, labels: {}, fields: {}, ...scope }),
  );
  const told: ObjectChange[] = [];
  store.table.subscribe((change) => told.push(change));
  return Object.assign(store, { told });
}

/** Gives a store a complete list. */
export function list(store: Store, version: number, ...objects: ServerObject[]): void {
  store.beginList();
  finishList(store, version, ...objects);
}

/** Gives a store the list that it has begun. */
export function finishList(store: Store, version: number, ...objects: ServerObject[]): void {
  const items = new Map<string, CachedObject>();
  for (const object of objects) {
    const admitted = store.admit(keyIn(object), object);
    if (admitted !== undefined) items.set(keyIn(object), admitted);
  }
  store.replace(items, String(version));
}

export function event(store: Store, type: ObjectEvent["type"], object: ServerObject): Consistency {
  return store.apply({ type, object });
}

/** The changes a store told since the last call, as `type name@version`. */
export function told(store: { readonly told: ObjectChange[] }): string[] {
  return store.told.splice(0).map(({ type, object, isInitial, isGuess }) => {
    const flags = [isInitial ? "initial" : "", isGuess ? "guess" : ""].filter(Boolean).join(" ");
    const { name, resourceVersion, uid } = object.metadata;
    return [`${type} ${name}@${resourceVersion}${uid === "u1" ? "" : `/${uid}`}`, flags]
      .filter(Boolean)
      .join(" ");
  });
}

/** The objects of a store, as `name@version`. */
export function shown(store: Store): string[] {
  return [...store.table.objects.values()].map(nameOf).sort();
}

function nameOf({ metadata }: CachedObject): string {
  return `${metadata.name}@${metadata.resourceVersion}`;
}

function keyIn({ metadata }: ServerObject): string {
  return metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
}
