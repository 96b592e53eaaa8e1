/** A promise with the functions that settle it. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: unknown) => void;
}

let lastResolve: ((value: never) => void) | undefined;
let lastReject: ((reason: unknown) => void) | undefined;

function keep(resolve: (value: never) => void, reject: (reason: unknown) => void): void {
  lastResolve = resolve;
  lastReject = reject;
}

/**
 * `Promise.withResolvers`, which Node 20 has not. With one executor for all: a function for each
 * promise, and the scope that it sees, would be a quarter of what a sleep allocates.
 */
export function deferred<Value>(): Deferred<Value> {
  const promise = new Promise<Value>(keep);
  const resolve = lastResolve as (value: Value) => void;
  const reject = lastReject as (reason: unknown) => void;
  // What is kept on would keep the promise.
  lastResolve = undefined;
  lastReject = undefined;
  return { promise, resolve, reject };
}
