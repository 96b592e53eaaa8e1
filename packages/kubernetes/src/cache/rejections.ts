/** Receives the first rejection of an object by a function of the user. */
export type OnRejected = (key: string, by: string, error: unknown) => void;

/** The cached keys whose object a function of the user has rejected by throwing. */
export class Rejections {
  /** Names of the functions, by key. */
  readonly #rejected = new Map<string, Set<string>>();
  readonly #onRejected: OnRejected;
  /** Those of before the current list that it has not shown yet. */
  #before = new Set<string>();

  constructor(onRejected: OnRejected) {
    this.#onRejected = onRejected;
  }

  /** How many objects are rejected. */
  get size(): number {
    return this.#rejected.size;
  }

  /** The result of the function, or undefined if it throws. An error is reported once, until it succeeds. */
  attempt<Argument, Result>(
    key: string,
    by: string,
    work: (argument: Argument) => Result,
    argument: Argument,
  ): Result | undefined {
    try {
      const result = work(argument);
      const functions = this.#rejected.get(key);
      if (functions?.delete(by) === true && functions.size === 0) this.#rejected.delete(key);
      return result;
    } catch (error) {
      this.#before.delete(key);
      const functions = this.#rejected.get(key) ?? new Set();
      const isKnown = functions.has(by);
      this.#rejected.set(key, functions.add(by));
      if (!isKnown) this.#onRejected(key, by, error);
      return undefined;
    }
  }

  /** Forgets an object that is gone. */
  forget(key: string): void {
    this.#rejected.delete(key);
  }

  /** Call it before a list. */
  beginList(): void {
    this.#before = new Set(this.#rejected.keys());
  }

  /** Forgets the objects that the list had no longer, by the objects that are cached after it. */
  endList(cached: { has(key: string): boolean }): void {
    for (const key of this.#before) if (!cached.has(key)) this.#rejected.delete(key);
  }
}
