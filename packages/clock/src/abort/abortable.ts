import { type Deferred, deferred } from "@holdfast/kit";
import { AbortCallback, AbortList } from "./abort-list.ts";
import { onAbort } from "./on-abort.ts";

const ignore = (): void => {};

/** Receivers of a result that comes after the abort. */
export interface LateResult<Value> {
  /** Receives the value. */
  readonly value?: (value: Value) => unknown;
  /** Receives the error. Of several waits for one promise, the first one that ended hears of it. */
  readonly error?: (error: unknown) => unknown;
}

/**
 * Waits for `work`, which receives `argument`, by default the signal, but only until `signal` aborts: then rejects with
 * the reason at once. `work` is not called if it has aborted already. A value that arrives after the abort goes to
 * `onLate`, a later error is ignored, unless `onLate` has a receiver for it. A list in place of its signal spares the signal.
 *
 * Neither an async function nor a callback stands between `work` and the result, so that the stack of an
 * error of `work` shows the callers, and one frame of this function (ADR 0042).
 */
export function abortable<Value, Argument = AbortSignal>(
  work: (argument: Argument) => Value | PromiseLike<Value>,
  signal: AbortSignal | AbortList,
  onLate?: ((value: Value) => unknown) | LateResult<Value>,
  argument: Argument = signal as Argument,
): Promise<Value> {
  if (signal.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = deferred<Value>();
  const list = signal instanceof AbortList ? signal : AbortList.of(signal);
  const waiter = new AbortCallback(reject);
  list.add(waiter);
  let result: Promise<Value>;
  try {
    result = Promise.resolve<unknown>(work(argument)) as Promise<Value>;
  } catch (error) {
    result = Promise.reject(error);
  }
  const wait = AbandonedPromise.wait(result);
  (wait?.promise ?? result).then(resolve, reject);
  const end = (): void => {
    waiter.leave();
    wait?.[Symbol.dispose]();
    if (!signal.aborted) return;
    const late = typeof onLate === "function" ? { value: onLate } : onLate;
    AbandonedPromise.add(result, late?.error);
    if (late?.value !== undefined) void result.then(late.value, ignore);
    throw signal.reason; // another listener may have hidden the abort from `onAbort`
  };
  const endWith = (error: unknown): never => {
    end();
    throw error;
  };
  return promise.then((value) => {
    end();
    return value;
  }, endWith);
}

/** The promise of the work itself: the stack of an error made before another promise follows it has no callers. */
export function promiseOf<Value>(work: () => Value | PromiseLike<Value>): Promise<Value> {
  try {
    return Promise.resolve<unknown>(work()) as Promise<Value>;
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Resolves when `signal` aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    onAbort(signal, () => resolve());
  });
}

/**
 * All later waits on a promise that a wait has abandoned, behind one reaction.
 *
 * A reaction to a promise cannot be removed. Waiting again and again for one that stays pending would keep
 * each wait in memory.
 */
class AbandonedPromise {
  static readonly #known = new WeakMap<Promise<unknown>, AbandonedPromise>();

  readonly #waits = new Set<Deferred<never>>();

  private constructor(promise: Promise<unknown>, onError: (error: unknown) => unknown) {
    const settle = (end: (wait: Deferred<never>) => void): void => {
      AbandonedPromise.#known.delete(promise);
      for (const wait of this.#waits) end(wait);
    };
    promise.then(
      (value) => settle((wait) => wait.resolve(value as never)),
      (error: unknown) => {
        settle((wait) => wait.reject(error));
        onError(error);
      },
    );
  }

  /** A wait has ended before its promise did. */
  static add(promise: Promise<unknown>, onError: (error: unknown) => unknown = ignore): void {
    if (!AbandonedPromise.#known.has(promise))
      AbandonedPromise.#known.set(promise, new AbandonedPromise(promise, onError));
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
