import type { Clock } from "@holdfast/clock";
import { resourceName } from "@holdfast/kit/kubernetes";
import type { Resource } from "@holdfast/kubernetes";
import { type JsonObject, metadataOf } from "../object/json.ts";
import type { ApiState } from "../server/state/api-state.ts";
import type { Change } from "../server/state/object-store.ts";
import { ASIDE } from "./cluster-state.ts";
import type { ExploredApi } from "./explored-api.ts";
import { sharesForeignCondition } from "./foreign-condition.ts";
import { foreignOwnerOf, isOrphan, placesOf, storeOf } from "./garbage-collector.ts";

/** How to watch a server. */
export interface HistoryOptions {
  readonly api: ExploredApi;
  readonly clock: Clock;
  readonly resources: readonly Resource[];
  /** Resources whose objects may be deleted and created again. */
  readonly recreates: readonly Resource[];
}

/**
 * Counts how often each object came to be and ceased to be. Objects with generated names count as one: it comes to be
 * with the first of them, and ceases to be with the last. Objects without a living owner do not count: the garbage
 * collector deletes them.
 *
 * Source: the oracle of Sieve (OSDI 2022).
 */
export class History {
  /** By object and event: `configmaps default/ann was deleted`. */
  readonly counts: Map<string, number> = new Map();

  readonly #api: ExploredApi;
  #changes = 0;
  readonly #state: ApiState;
  readonly #served: ReadonlySet<string>;
  readonly #living = new Map<string, number>();

  constructor({ api, clock, resources, recreates }: HistoryOptions) {
    this.#api = api;
    this.#state = api.objects;
    this.#served = new Set(resources.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`));
    for (const resource of resources) {
      if (ASIDE.has(resource.kind)) continue;
      const name = resourceName(resource);
      const mayRepeat = recreates.some((one) => resourceName(one) === name);
      this.#state.subscribe(storeOf(resource), (change) => {
        this.#changes += 1;
        api.changedAt.set(`${change.version}`, clock.monotonic());
        this.#check(name, change);
        if (!mayRepeat) this.#note(name, change);
      });
    }
  }

  /** See {@link ExploredApi.problem}. */
  get problem(): string | undefined {
    return this.#api.problem;
  }

  /** Another one after each change of an object that counts, and after the first mistake. */
  get revision(): number {
    return this.#changes + (this.problem === undefined ? 0 : 1);
  }

  #check(resource: string, { key, object }: Change): void {
    if (object === undefined) return;
    if (sharesForeignCondition(object))
      this.#api.problem ??= `${resource} ${key} has a condition of another controller that the operator has applied too, so that nobody can withdraw it: apply the own conditions alone, see ownConditions`;
    if (!("ownerReferences" in metadataOf(object))) return;
    const owner = foreignOwnerOf(object, placesOf(this.#state.snapshot().stores));
    if (owner !== undefined)
      this.#api.problem ??= `${resource} ${key} has the owner ${owner["kind"]} ${owner["name"]} of another namespace: a cluster deletes or leaks it`;
  }

  #note(resource: string, { key, object, previous }: Change): void {
    if ((object === undefined) === (previous === undefined)) return;
    const label = `${resource} ${labelOf(key, (object ?? previous) as JsonObject)}`;
    const living = (this.#living.get(label) ?? 0) + (object === undefined ? -1 : 1);
    this.#living.set(label, living);
    if (object !== undefined && living === 1) this.#count(`${label} was created`, object);
    if (previous !== undefined && living === 0) this.#count(`${label} was deleted`, previous);
  }

  #count(event: string, object: JsonObject): void {
    if (isOrphan(object, placesOf(this.#state.snapshot().stores), this.#served)) return;
    this.counts.set(event, (this.counts.get(event) ?? 0) + 1);
  }
}

/** The key of an object, with its generated name replaced. */
function labelOf(key: string, object: JsonObject): string {
  const { name, generateName } = metadataOf(object);
  if (typeof generateName !== "string" || !String(name).startsWith(generateName)) return key;
  return `${key.slice(0, key.length - String(name).length)}${generateName}*`;
}
