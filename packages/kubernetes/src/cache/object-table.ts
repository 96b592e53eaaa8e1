import type { CachedObject, Change } from "./change.ts";
import { type IndexFunction, ObjectIndex } from "./object-index.ts";

/** Cached objects by key, with their indexes and the listeners that hear of changes. */
export class ObjectTable {
  readonly #objects = new Map<string, CachedObject>();
  readonly #indexes = new Map<string, ObjectIndex>();
  readonly #listeners = new Set<(change: Change) => void>();

  get objects(): ReadonlyMap<string, CachedObject> {
    return this.#objects;
  }

  get(key: string): CachedObject | undefined {
    return this.#objects.get(key);
  }

  /** The objects that an index has under a value. The index must be there. */
  by(index: string, value: string): CachedObject[] {
    return this.#indexes.get(index)?.by(value) ?? [];
  }

  /** Adds an index, filled with the objects that are there. An index of that name is replaced. */
  addIndex(name: string, valuesOf: IndexFunction): void {
    const index = new ObjectIndex(name, valuesOf);
    for (const [key, object] of this.#objects) index.set(key, object, index.compute(object));
    this.#indexes.set(name, index);
  }

  /** Calls `listener` for each change from now on, right after it. */
  subscribe(listener: (change: Change) => void): Disposable {
    // A function of its own: one listener may subscribe twice.
    const entry = (change: Change): void => listener(change);
    this.#listeners.add(entry);
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(entry);
      },
    };
  }

  /**
   * Applies the changes, all of them or none, and then reports each.
   *
   * @throws the error of an index function; no change is made then
   */
  commit(changes: readonly Change[]): void {
    const indexes = [...this.#indexes.values()];
    const values = changes.map(({ type, object }) =>
      type === "deleted" ? [] : indexes.map((index) => index.compute(object)),
    );
    for (const [at, { type, key, object }] of changes.entries()) {
      if (type === "deleted") this.#objects.delete(key);
      else this.#objects.set(key, object);
      for (const [which, index] of indexes.entries()) {
        const computed = values[at]?.[which];
        if (computed === undefined) index.delete(key);
        else index.set(key, object, computed);
      }
    }
    for (const change of changes) for (const listener of this.#listeners) listener(change);
  }
}
