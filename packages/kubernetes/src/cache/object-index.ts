import type { CachedObject } from "../object/kube-object.ts";

/** Returns the values under which an index finds an object. */
export type IndexFunction = (object: CachedObject) => readonly string[];

/** Finds cached objects by a value that a function computes for each. */
export class ObjectIndex {
  readonly name: string;
  readonly valuesOf: IndexFunction;
  /** By value, then by key. */
  readonly #objects = new Map<string, Map<string, CachedObject>>();
  /** By key. Kept, since the function may return other values when it is called again. */
  readonly #values = new Map<string, ReadonlySet<string>>();

  constructor(name: string, valuesOf: IndexFunction) {
    this.name = name;
    this.valuesOf = valuesOf;
  }

  by(value: string): CachedObject[] {
    return [...(this.#objects.get(value)?.values() ?? [])];
  }

  /**
   * Computes the values of an object, and changes nothing.
   *
   * @throws the error of the function; TypeError if it returns no array of strings
   */
  compute(object: CachedObject): ReadonlySet<string> {
    const values: unknown = this.valuesOf(object);
    if (!Array.isArray(values) || values.some((value) => typeof value !== "string"))
      throw new TypeError(`options.indexes["${this.name}"] must return an array of strings`);
    return new Set(values as string[]);
  }

  set(key: string, object: CachedObject, values: ReadonlySet<string>): void {
    this.delete(key);
    if (values.size === 0) return;
    this.#values.set(key, values);
    for (const value of values) {
      const objects = this.#objects.get(value);
      if (objects === undefined) this.#objects.set(value, new Map([[key, object]]));
      else objects.set(key, object);
    }
  }

  delete(key: string): void {
    for (const value of this.#values.get(key) ?? []) {
      const objects = this.#objects.get(value);
      objects?.delete(key);
      if (objects?.size === 0) this.#objects.delete(value);
    }
    this.#values.delete(key);
  }
}
