import { findModule } from "./find-module.ts";

/** Runs a callback in the async context in which this object was created. */
export interface CallbackContext {
  runInAsyncScope(callback: () => void): void;
}

interface AsyncResource extends CallbackContext {
  runInAsyncScope<Argument, Result>(
    callback: (argument: Argument) => Result,
    receiver?: undefined,
    argument?: Argument,
  ): Result;
}

interface AsyncHooks {
  readonly AsyncResource: new (type: string) => AsyncResource;
}

const asyncHooks = findModule<AsyncHooks>("node:async_hooks");

const NO_CONTEXT: CallbackContext = { runInAsyncScope: (callback) => callback() };

/** Captures the current async context. Without `node:async_hooks`, callbacks run directly. */
export function currentContext(): CallbackContext {
  return asyncHooks === undefined ? NO_CONTEXT : new asyncHooks.AsyncResource("HoldfastTimer");
}

/**
 * Calls `callback` in its own async context: stores that it enters with `AsyncLocalStorage.enterWith`
 * apply to it and to the work it starts, not to the next call. Before Node 24, `enterWith` modifies the
 * current context, so each call needs a new one. Without `node:async_hooks` there are no stores, and
 * the callback is called directly.
 */
export function callInOwnContext<Argument, Result>(
  callback: (argument: Argument) => Result,
  argument: Argument,
): Result {
  if (asyncHooks === undefined) return callback(argument);
  const context = new asyncHooks.AsyncResource("HoldfastCall");
  return context.runInAsyncScope(callback, undefined, argument);
}
