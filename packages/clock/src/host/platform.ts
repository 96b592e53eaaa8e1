/**
 * The only file that knows which platform this is. Node, Deno, Bun and workerd offer their modules
 * through `process.getBuiltinModule`; everything else gets the fallbacks. No code path is chosen by
 * the name of a platform.
 */

/** Runs a callback in the async context in which the object was created. */
export interface CallbackContext {
  runInAsyncScope(callback: () => void): void;
}

interface Events {
  addAbortListener(signal: AbortSignal, listener: () => void): Disposable;
}

interface AsyncHooks {
  readonly AsyncResource: new (type: string) => CallbackContext;
}

interface Timers {
  setImmediate(callback: () => void): unknown;
  setInterval(callback: () => void, delay: number): unknown;
  clearInterval(handle: unknown): void;
}

function builtin<Module>(name: string): Module | undefined {
  const { process } = globalThis as {
    readonly process?: { getBuiltinModule?(name: string): unknown };
  };
  return process?.getBuiltinModule?.(name) as Module | undefined;
}

const events = builtin<Events>("node:events");
const asyncHooks = builtin<AsyncHooks>("node:async_hooks");
const timers = builtin<Timers>("node:timers");

// Taken at import, so that fakes installed later do not reach them.
const setImmediate = timers?.setImmediate;
const setInterval = timers?.setInterval;
const clearInterval = timers?.clearInterval;
const setTimeout = globalThis.setTimeout;

const NO_CONTEXT: CallbackContext = { runInAsyncScope: (callback) => callback() };

/** The current async context, for a callback that runs later. */
export function currentContext(): CallbackContext {
  return asyncHooks === undefined ? NO_CONTEXT : new asyncHooks.AsyncResource("HoldfastTimer");
}

/**
 * Calls `listener` when `signal` aborts, even if an earlier listener calls
 * `stopImmediatePropagation()`, as far as the platform allows. Returns the way to unsubscribe.
 */
export function listenForAbort(signal: AbortSignal, listener: () => void): () => void {
  if (typeof events?.addAbortListener === "function") {
    const subscription = events.addAbortListener(signal, listener);
    return () => subscription[Symbol.dispose]();
  }
  signal.addEventListener("abort", listener);
  return () => signal.removeEventListener("abort", listener);
}

/** Calls back in the next turn of the event loop. */
export function afterTurn(callback: () => void): void {
  if (setImmediate === undefined) setTimeout(callback, 0);
  else setImmediate(callback);
}

/** Keeps the process alive until disposed. A page or a worker needs nothing for that. */
export function keepAlive(): Disposable {
  const handle = setInterval?.(() => {}, 2 ** 31 - 1);
  return {
    [Symbol.dispose]: () => {
      if (handle !== undefined) clearInterval?.(handle);
    },
  };
}
