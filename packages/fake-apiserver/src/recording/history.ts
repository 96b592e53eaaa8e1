import { isObject, type JsonObject, metadataOf, own, stringsOf } from "../object/json.ts";
import type { Exchange, Place, Version } from "./exchange.ts";

/** Something that the program has seen of an object. */
export interface Sight {
  readonly store: string;
  readonly key: string;
  /** Undefined for an object that is gone. */
  readonly object: JsonObject | undefined;
  readonly at: number;
  /** Default: that of the object; of one that is gone, the next. */
  readonly number?: number;
  readonly isWatched?: boolean;
  /** The write that it answers. */
  readonly by?: Exchange;
}

/** The objects of a cluster over time, as one program has seen them. */
export class History {
  readonly #places = new Map<string, Place>();

  get places(): Iterable<Place> {
    return this.#places.values();
  }

  /** The version of an object. Of one that is not known it has no versions. */
  place(store: string, key: string): Place {
    const id = `${store} ${key}`;
    const place = this.#places.get(id) ?? { store, key, versions: [], isOld: false };
    this.#places.set(id, place);
    return place;
  }

  /** Takes what the program sees. Call it in the order of the recording. */
  see(sight: Sight): void {
    const { versions } = this.place(sight.store, sight.key);
    const last = versions.at(-1);
    if (sight.object === undefined && sight.number === undefined && last === undefined) return;
    const number = sight.number ?? (sight.object ? numberOf(sight.object) : nextTo(last));
    const same =
      sight.object === undefined && last?.object === undefined
        ? last
        : versions.findLast((one) => one.number === number);
    if (same !== undefined) again(same, sight);
    else this.#add(versions, number, sight);
  }

  #add(versions: Version[], number: number, { object, at, isWatched, by }: Sight): void {
    const index = versions.findLastIndex((one) => one.number < number) + 1;
    const before = versions[index - 1]?.object;
    const made = { number, object, seen: at, watched: isWatched ? at : undefined, by, at };
    const added = [made];
    if (before && object && uidOf(before) !== uidOf(object))
      added.unshift({ ...made, number: number - 0.5, object: undefined, by: undefined });
    versions.splice(index, 0, ...added);
  }

  /**
   * Takes the writes without an answer. One has made a version of others in which the program has other fields than before:
   * the first one before a new object, the last one before another version.
   */
  attribute(lost: readonly Exchange[], managerOf: (exchange: Exchange) => string): void {
    for (const place of new Set(lost.map((one) => one.place as Place))) {
      const own = lost.filter((one) => one.place === place);
      let after = Number.NEGATIVE_INFINITY;
      let before: JsonObject | undefined;
      for (const version of place.versions) {
        const { object, seen } = version;
        const candidates = before === undefined ? own : own.toReversed(); // it is made once
        version.by ??= candidates.find((one) => {
          if (one.at > seen || one.at <= after) return false;
          if (object === undefined || one.call?.verb === "delete")
            return object === undefined && one.call?.verb === "delete";
          const manager = managerOf(one);
          return ownFields(object, manager) !== ownFields(before, manager);
        });
        after = version.by?.at ?? after;
        before = object;
      }
    }
  }

  /** All objects that are known now were there before the program. */
  begin(): void {
    for (const place of this.places) place.isOld = place.versions.length > 0;
  }

  /** Sets the latest instants, and the versions that were there before `start`, in milliseconds since the epoch. */
  close(start: number, wallOf: (instant: number) => number): void {
    for (const place of this.places) {
      const [first] = place.versions;
      if (first !== undefined) markOld(place, first, first.by ? wallOf(first.by.at) : start);
    }
    let latest = Number.POSITIVE_INFINITY;
    for (const version of this.inOrder().toReversed()) {
      latest = Math.min(latest, version.seen);
      version.at = latest;
      if (version.by) version.by.version = version;
    }
  }

  /** The versions of all objects but those that were there before, in order. */
  inOrder(): Version[] {
    return [...this.places]
      .flatMap(({ versions, isOld }) => (isOld ? versions.slice(1) : versions))
      .toSorted((one, other) => one.number - other.number);
  }
}

/** Marks an object that was there before it was seen, or before the write that answered with it. */
function markOld(place: Place, first: Version, since: number): void {
  if (place.isOld) return; // of a snapshot
  const created = Date.parse(`${metadataOf(first.object ?? {})["creationTimestamp"]}`);
  if (!(created < Math.floor(since / 1_000) * 1_000)) return;
  if (first.by?.call?.verb === "create") return;
  // A write of an object that was never read: the best that is known is what it became.
  if (first.by !== undefined)
    place.versions.unshift({ ...first, number: first.number - 0.5, by: undefined });
  place.isOld = true;
}

/** A version is seen again: by a watch, as an answer, or as gone. */
function again(version: Version, { object, at, number, isWatched, by }: Sight): void {
  version.object ??= object;
  if (isWatched) version.watched ??= at;
  if (number !== undefined && isWatched && object === undefined) version.number = number;
  if (by !== undefined && version.seen >= by.at) version.by ??= by;
}

function nextTo(last: Version | undefined): number {
  return (last?.number ?? 0) + 0.5;
}

export function numberOf(object: JsonObject): number {
  return Number(metadataOf(object)["resourceVersion"]);
}

function uidOf(object: JsonObject): unknown {
  return metadataOf(object)["uid"];
}

function ownFields(object: JsonObject | undefined, manager: string): string {
  const entries = object && metadataOf(object)["managedFields"];
  const own = Array.isArray(entries) ? entries.filter((entry) => entry?.manager === manager) : [];
  return JSON.stringify(own);
}

/** Whether the answer of a write says that the object is gone. */
export function isRemoved(verb: string | undefined, answer: JsonObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadataOf(answer);
  if (verb === "delete") return answer["kind"] === "Status" || deletionTimestamp === undefined;
  const isHeld = stringsOf(finalizers).length > 0 || Boolean(deletionGracePeriodSeconds);
  return deletionTimestamp !== undefined && !isHeld;
}

/** The items of a list, or undefined for another object. */
export function itemsOf(answer: JsonObject): readonly JsonObject[] | undefined {
  const items = own(answer, "items");
  return Array.isArray(items) ? items.filter(isObject) : undefined;
}
