import type { JsonObject } from "../../object/json.ts";
import { type Change, ObjectStore } from "./object-store.ts";

/** State saved by {@link ApiState.snapshot}: the objects of every store and the version. */
export interface StateSnapshot {
  readonly version: number;
  readonly stores: ReadonlyMap<string, ReadonlyMap<string, JsonObject>>;
}

/** The plural of a store with its group, as in `deployments.apps`. */
export function nameOfStore(key: string): string {
  const [group = "", plural = ""] = key.split("/");
  return group === "" ? plural : `${plural}.${group}`;
}

/** Called after each write of a store. */
export type ChangeListener = (change: Change) => void;

/** Every object of the server, under one counter of versions. It knows no time and no request. */
export class ApiState {
  readonly #stores = new Map<string, ObjectStore>();
  readonly #listeners = new Map<string, Set<ChangeListener>>();
  // Version 1 belongs to the empty store, as in etcd.
  #version = 1;
  /** Versions below it are forgotten in every store. */
  #floor = 1;

  /** The version of the latest write. */
  get version(): number {
    return this.#version;
  }

  /** The store of a resource. */
  store(key: string): ObjectStore {
    let store = this.#stores.get(key);
    if (store === undefined) {
      store = new ObjectStore(new Map(), this.#floor);
      this.#stores.set(key, store);
    }
    return store;
  }

  /**
   * Writes an object under the next version, and notifies the listeners of the store.
   *
   * @param make - makes the object from its version; undefined removes the stored object
   * @param least - the next version, if that is not beyond it
   */
  write(
    store: string,
    key: string,
    make: ((version: string) => JsonObject) | undefined,
    least = 0,
  ): JsonObject | undefined {
    const version = Math.max(this.#version + 1, least);
    this.#version = version;
    const change = this.store(store).set(key, make?.(String(version)), version);
    for (const listener of [...(this.#listeners.get(store) ?? [])]) listener(change);
    return change.object;
  }

  /** Calls `listener` after each write of a store, in order, with no write left out. */
  subscribe(store: string, listener: ChangeListener): Disposable {
    let listeners = this.#listeners.get(store);
    if (listeners === undefined) {
      listeners = new Set();
      this.#listeners.set(store, listeners);
    }
    listeners.add(listener);
    return { [Symbol.dispose]: () => void listeners.delete(listener) };
  }

  /** Forgets all changes so far: older versions cannot be watched or paged from any more. */
  compact(): void {
    this.#floor = this.#version;
    for (const store of this.#stores.values()) store.compact(this.#version);
  }

  /** The state as it is. Later writes do not change it. */
  snapshot(): StateSnapshot {
    const stores = [...this.#stores].map(([key, store]) => [key, new Map(store.objects)] as const);
    return { version: this.#version, stores: new Map(stores) };
  }

  /** Goes back to a snapshot, its version included. Nothing before it is known. */
  restore({ version, stores }: StateSnapshot): void {
    this.#version = version;
    this.#floor = version;
    this.#stores.clear();
    for (const [key, objects] of stores) this.#stores.set(key, new ObjectStore(objects, version));
  }
}
