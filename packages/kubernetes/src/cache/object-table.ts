import type { CachedObject } from "../object/kube-object.ts";
import type { ObjectChange } from "./change.ts";
import { type IndexFunction, ObjectIndex } from "./object-index.ts";
import { type OnRejected, Rejections } from "./rejections.ts";

const NOWHERE: ReadonlySet<string> = new Set();

/** How many deleted UIDs are remembered, for responses of writes that come later than the deletion. */
const MAX_GONE = 1_000;

/** Cached objects by key, with their indexes and the listeners for their changes. */
export class ObjectTable {
  /** The objects that an index function or `transform` rejects. */
  readonly rejections: Rejections;
  readonly #objects = new Map<string, CachedObject>();
  readonly #indexes = new Map<string, ObjectIndex>();
  readonly #listeners = new Set<(change: ObjectChange) => void>();
  /** UIDs of objects that are gone, the oldest first. */
  readonly #gone = new Set<string>();

  constructor(onRejected: OnRejected) {
    this.rejections = new Rejections(onRejected);
  }

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
    for (const [key, object] of this.#objects)
      index.set(key, object, this.#valuesOf(index, key, object));
    this.#indexes.set(name, index);
  }

  /** Calls `listener` for each change from now on, right after it. Each subscription is a function of its own. */
  subscribe(listener: (change: ObjectChange) => void): Disposable {
    this.#listeners.add(listener);
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(listener);
      },
    };
  }

  /** Applies the changes, and then reports each. An index whose function throws leaves the object out. */
  commit(changes: readonly ObjectChange[]): void {
    const indexes = [...this.#indexes.values()];
    const values = changes.map(({ type, key, object }) =>
      type === "deleted" ? [] : indexes.map((index) => this.#valuesOf(index, key, object)),
    );
    for (const [at, { type, key, object }] of changes.entries()) {
      if (type === "deleted") {
        this.#objects.delete(key);
        this.rejections.forget(key);
        this.leave(object.metadata.uid);
      } else this.#objects.set(key, object);
      for (const [which, index] of indexes.entries()) {
        const computed = values[at]?.[which];
        if (computed === undefined) index.delete(key);
        else index.set(key, object, computed);
      }
    }
    for (const change of changes) for (const listener of this.#listeners) listener(change);
  }

  /** Remembers that an object is gone. */
  leave(uid: string): void {
    this.#gone.delete(uid); // so that it becomes the youngest
    this.#gone.add(uid);
    const [oldest] = this.#gone;
    if (oldest !== undefined && this.#gone.size > MAX_GONE) this.#gone.delete(oldest);
  }

  /** Whether an object was there, or is known to be gone. */
  hasLeft(uid: string): boolean {
    return this.#gone.has(uid);
  }

  /** Forgets all objects and listeners, and reports nothing. */
  clear(): void {
    for (const key of [...this.#objects.keys()]) {
      for (const index of this.#indexes.values()) index.delete(key);
      this.rejections.forget(key);
    }
    this.#objects.clear();
    this.#listeners.clear();
  }

  #valuesOf(index: ObjectIndex, key: string, object: CachedObject): ReadonlySet<string> {
    const by = `options.indexes["${index.name}"]`;
    return this.rejections.attempt(key, by, (one) => index.compute(one), object) ?? NOWHERE;
  }
}
