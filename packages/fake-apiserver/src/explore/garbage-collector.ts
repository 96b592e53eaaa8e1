import type { Clock } from "@holdfast/clock";
import { resourceName } from "@holdfast/kit/kubernetes";
import type { Resource } from "@holdfast/kubernetes";
import { isObject, type JsonObject, metadataOf, own } from "../object/json.ts";
import { nameOfStore, type StateSnapshot } from "../server/state/api-state.ts";
import type { ExploredApi } from "./explored-api.ts";

/** Milliseconds from a change to the collection of the objects that have lost their owners by it. */
const DELAY = 1_000;

/** The world whose garbage is collected. */
export interface GarbageCollectorOptions {
  readonly api: ExploredApi;
  readonly clock: Clock;
  readonly resources: readonly Resource[];
}

/** Deletes the objects of a fake API server whose owners are all gone, as a controller of a cluster does. */
export class GarbageCollector {
  readonly #options: GarbageCollectorOptions;

  /** API versions and kinds of the resources. */
  readonly #served: ReadonlySet<string>;

  /** The resources by plural and group. */
  readonly #named: ReadonlyMap<string, Resource>;
  #isDue = false;

  /** Collects until the world ends. */
  constructor(options: GarbageCollectorOptions) {
    this.#options = options;
    this.#served = new Set(
      options.resources.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`),
    );
    this.#named = new Map(options.resources.map((one) => [resourceName(one), one]));
    for (const resource of options.resources)
      options.api.objects.subscribe(storeOf(resource), () => this.#schedule());
  }

  #schedule(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    const collect = (): void => {
      this.#isDue = false;
      void this.#collect();
    };
    this.#options.clock.afterFunc(DELAY, collect, { label: "garbage collector" });
  }

  async #collect(): Promise<void> {
    const { api } = this.#options;
    for (const { resource, key } of garbageOf(api.snapshot() as StateSnapshot, this.#served)) {
      const found = this.#named.get(resource);
      if (found !== undefined) await api.client.delete(found, key);
    }
  }
}

/** The store of a resource. */
export function storeOf({ group, plural }: Resource): string {
  return `${group}/${plural}`;
}

interface Garbage {
  /** Plural with its group, as in `deployments.apps`. */
  readonly resource: string;
  readonly key: string;
}

/** Objects whose owners are all gone. Owners of kinds that the server does not have count as there. */
function garbageOf({ stores }: StateSnapshot, served: ReadonlySet<string>): Garbage[] {
  const places = placesOf(stores);
  return [...stores].flatMap(([store, ofStore]) => {
    const resource = nameOfStore(store);
    return [...ofStore]
      .filter(([, object]) => isGarbage(object, places, served))
      .map(([key]) => ({ resource, key }));
  });
}

function isGarbage(object: JsonObject, places: Places, served: ReadonlySet<string>): boolean {
  return metadataOf(object)["deletionTimestamp"] === undefined && isOrphan(object, places, served);
}

/** The namespaces of all objects, by uid. Undefined for cluster scope. */
export type Places = ReadonlyMap<unknown, unknown>;

export function placesOf(stores: StateSnapshot["stores"]): Places {
  const objects = [...stores.values()].flatMap((store) => [...store.values()]);
  return new Map(
    objects.map((object) => [own(metadataOf(object), "uid"), own(metadataOf(object), "namespace")]),
  );
}

/**
 * Whether the owners of an object are all gone. Those of kinds that are not served count as there, and those of another
 * namespace as gone.
 */
export function isOrphan(object: JsonObject, places: Places, served: ReadonlySet<string>): boolean {
  const owners = ownersOf(object);
  const isGone = (owner: JsonObject): boolean =>
    served.has(`${owner["apiVersion"]} ${owner["kind"]}`) &&
    (!places.has(owner["uid"]) || isElsewhere(object, owner, places));
  return owners.length > 0 && owners.every(isGone);
}

/** The owner of an object that is in a namespace, and not in that of the object. */
export function foreignOwnerOf(object: JsonObject, places: Places): JsonObject | undefined {
  return ownersOf(object).find((owner) => isElsewhere(object, owner, places));
}

function isElsewhere(object: JsonObject, { uid }: JsonObject, places: Places): boolean {
  const namespace = places.get(uid);
  return namespace !== undefined && namespace !== own(metadataOf(object), "namespace");
}

function ownersOf(object: JsonObject): readonly JsonObject[] {
  const { ownerReferences } = metadataOf(object);
  return Array.isArray(ownerReferences) ? ownerReferences.filter(isObject) : [];
}
