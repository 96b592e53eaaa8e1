import type { JsonObject } from "../../object/json.ts";

/** Changes that a store keeps for watches and pages that come later. */
const MAX_HISTORY = 10_000;

/** A write of one object. Both sides are missing never. */
export interface Change {
  readonly key: string;

  /** The version that the write made. */
  readonly version: number;

  /** The object after the write. Undefined if it is gone. */
  readonly object: JsonObject | undefined;

  /** The object before the write. Undefined if it is new. */
  readonly previous: JsonObject | undefined;
}

/** Objects by key, in the order of keys. */
export interface View {
  readonly keys: readonly string[];
  readonly objects: ReadonlyMap<string, JsonObject>;
}

/** The objects of one resource and the changes that led to them. */
export class ObjectStore {
  readonly #objects: Map<string, JsonObject>;
  #keys: readonly string[] | undefined;
  #history: Change[] = [];
  /** Changes above this version are kept. */
  #floor: number;

  constructor(objects: ReadonlyMap<string, JsonObject>, version: number) {
    this.#objects = new Map(objects);
    this.#floor = version;
  }

  /** Oldest version from which the changes are known. */
  get floor(): number {
    return this.#floor;
  }

  get objects(): ReadonlyMap<string, JsonObject> {
    return this.#objects;
  }

  get(key: string): JsonObject | undefined {
    return this.#objects.get(key);
  }

  /** Stores an object, or removes it if `object` is undefined. */
  set(key: string, object: JsonObject | undefined, version: number): Change {
    const change = { key, version, object, previous: this.#objects.get(key) };
    if ((object === undefined) !== (change.previous === undefined) || object === undefined)
      this.#keys = undefined;
    if (object === undefined) this.#objects.delete(key);
    else this.#objects.set(key, object);
    this.#history.push(change);
    if (this.#history.length >= 2 * MAX_HISTORY) this.#trim();
    return change;
  }

  /** Forgets the changes up to `version`. */
  compact(version: number): void {
    this.#history = this.#history.filter((change) => change.version > version);
    this.#floor = Math.max(this.#floor, version);
  }

  /** The changes after `version`, which is not below the floor. */
  since(version: number): readonly Change[] {
    let from = this.#history.length;
    while (from > 0 && (this.#history[from - 1] as Change).version > version) from--;
    return this.#history.slice(from);
  }

  /** The objects as they are now. */
  view(): View {
    this.#keys ??= [...this.#objects.keys()].sort();
    return { keys: this.#keys, objects: this.#objects };
  }

  /** The objects as they were at `version`, which is not below the floor. */
  viewAt(version: number): View {
    const changes = this.since(version);
    if (changes.length === 0) return this.view();
    const objects = new Map(this.#objects);
    for (const { key, previous } of [...changes].reverse())
      if (previous === undefined) objects.delete(key);
      else objects.set(key, previous);
    return { keys: [...objects.keys()].sort(), objects };
  }

  #trim(): void {
    const dropped = this.#history.length - MAX_HISTORY;
    this.#floor = (this.#history[dropped - 1] as Change).version;
    this.#history = this.#history.slice(dropped);
  }
}
