import { type Deferred, deferred } from "../internal/deferred.ts";

/**
 * All later waits on a promise that a wait has abandoned, behind one reaction.
 *
 * A reaction to a promise cannot be removed. Waiting again and again for one that stays pending would keep
 * each wait in memory.
 */
export class AbandonedPromise {
  static readonly #known = new WeakMap<Promise<unknown>, AbandonedPromise>();

  readonly #waits = new Set<Deferred<never>>();

  private constructor(promise: Promise<unknown>) {
    const settle = (end: (wait: Deferred<never>) => void): void => {
      AbandonedPromise.#known.delete(promise);
      for (const wait of this.#waits) end(wait);
    };
    promise.then(
      (value) => settle((wait) => wait.resolve(value as never)),
      (error: unknown) => settle((wait) => wait.reject(error)),
    );
  }

  /** A wait has ended before its promise did. */
  static add(promise: Promise<unknown>): void {
    if (!AbandonedPromise.#known.has(promise))
      AbandonedPromise.#known.set(promise, new AbandonedPromise(promise));
  }

  /**
   * A wait for the promise that leaves nothing behind once it is disposed; undefined if no wait has abandoned
   * the promise so far. The first wait needs the promise itself, so that its error shows the callers.
   */
  static wait<Value>(
    promise: Promise<Value>,
  ): (Disposable & { readonly promise: Promise<Value> }) | undefined {
    const abandoned = AbandonedPromise.#known.get(promise);
    if (abandoned === undefined) return undefined;
    const wait = deferred<never>();
    abandoned.#waits.add(wait);
    return { promise: wait.promise, [Symbol.dispose]: () => abandoned.#waits.delete(wait) };
  }
}
