import {
  type Deferred,
  deferred,
  func,
  type Kinds,
  read,
  requireFunction,
  requireSignal,
} from "@holdfast/kit";
import { AbortCallback } from "./abort-list.ts";
import { LinkedController } from "./linked-controller.ts";
import { onAbort } from "./on-abort.ts";

const ignore = (): void => {};

/** Receivers of a result that comes after the abort. */
export interface LateResult<Value> {
  /** Receives the value. */
  readonly value?: (value: Value) => unknown;

  /** Receives the error. Of several waits for one promise, the first one that ended hears of it. */
  readonly error?: (error: unknown) => unknown;
}

const LATE_RESULT: Kinds<LateResult<never>> = { value: func, error: func };

/**
 * Waits for `work`, but only until `signal` aborts.
 *
 * | Event | Result |
 * | --- | --- |
 * | `work` settles first | the same value or error |
 * | `work` throws synchronously | rejects with that error |
 * | `signal` aborts first | rejects with `signal.reason` at once |
 * | `signal` has aborted already | rejects with `signal.reason`; `work` is not called |
 * | `work` settles after the abort | `onLate` receives the value; an error is ignored, unless `onLate` has a receiver for it |
 *
 * No listener remains. Waits for one promise that stays pending do not pile up on it. The stack of an error of `work`
 * shows the callers. To limit the time too, use `withTimeout` of `@holdfast/wait`.
 *
 * @param work - the work to wait for; receives `argument`
 * @param signal - ends the wait; a {@link LinkedController} in place of its signal spares the signal
 * @param onLate - receives the value, or value and error, that arrive after the abort
 * @param argument - the argument of `work`. Default: `signal`
 * @returns a promise of the value of `work`; bad arguments reject it with a TypeError
 *
 * @example
 * ```ts
 * import { abortable } from "@holdfast/clock";
 *
 * const stop = new AbortController();
 * const forever = new Promise<string>(() => {});
 * const wait = abortable(() => forever, stop.signal);
 * stop.abort("closing");
 * await wait.catch((reason) => console.log(reason)); // => closing
 * ```
 */
export function abortable<Value, Argument = AbortSignal>(
  work: (argument: Argument) => Value | PromiseLike<Value>,
  signal: AbortSignal | LinkedController,
  onLate?: ((value: Value) => unknown) | LateResult<Value>,
  argument: Argument = signalOf(signal) as Argument,
): Promise<Value> {
  // Neither an async function nor a callback stands between `work` and the result: the stack of its error shows the
  // callers, and one frame of this function (ADR 0007).
  let late: LateResult<Value> | undefined;
  try {
    requireFunction("work", work);
    if (!(signal instanceof LinkedController)) requireSignal("signal", signal);
    if (onLate !== undefined) late = lateResult(onLate);
  } catch (error) {
    return Promise.reject(error);
  }
  if (signal.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = deferred<Value>();
  const waiter = new AbortCallback(reject);
  LinkedController.listOf(signal).add(waiter);
  let result: Promise<Value>;
  try {
    result = Promise.resolve<unknown>(work(argument)) as Promise<Value>;
  } catch (error) {
    result = Promise.reject(error);
  }
  const wait = AbandonedPromise.wait(result);
  (wait?.promise ?? result).then(resolve, reject);
  const end = (): void => {
    waiter[Symbol.dispose]();
    wait?.[Symbol.dispose]();
    if (!signal.aborted) return;
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

function signalOf(end: AbortSignal | LinkedController): AbortSignal {
  return end instanceof LinkedController ? end.signal : end;
}

function lateResult<Value>(
  given: ((value: Value) => unknown) | LateResult<Value>,
): LateResult<Value> {
  if (typeof given === "function") return { value: given };
  read<LateResult<never>>("onLate", given as LateResult<never>, "abortable", LATE_RESULT);
  return given;
}

/** The promise of the work itself: the stack of an error made before another promise follows it has no callers. */
export function promiseOf<Value>(work: () => Value | PromiseLike<Value>): Promise<Value> {
  try {
    return Promise.resolve<unknown>(work()) as Promise<Value>;
  } catch (error) {
    return Promise.reject(error);
  }
}

/**
 * Resolves when `signal` aborts, through the one listener that this library has on that signal.
 *
 * @param signal - the signal to wait for; resolves at once if it has aborted already
 * @returns a promise; a bad argument rejects it with a TypeError
 *
 * @example
 * ```ts
 * import { aborted } from "@holdfast/clock";
 *
 * const stop = new AbortController();
 * const stopped = aborted(stop.signal);
 * stop.abort();
 * await stopped;
 * ```
 */
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
