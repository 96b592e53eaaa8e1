import type { BackoffOptions } from "../delay/backoff-options.ts";
import { isConflict } from "../retry/is-conflict.ts";
import { type OnErrorOptions, onError } from "./on-error.ts";

/**
 * Calls `fn` at most `steps` times, until its update succeeds without a conflict: {@link onError} with
 * {@link isConflict}.
 *
 * `fn` must read the object again in each call; the same object would conflict again.
 *
 * @param backoff - the delays; `steps` is also the maximum number of calls. Use {@link DefaultRetry},
 * or {@link DefaultBackoff} if another client changes the object constantly
 * @param fn - reads, changes and updates the object; receives the signal and should settle soon after
 * it aborts. It must not wrap the errors of the client
 * @param options - see {@link OnErrorOptions}
 * @returns a promise of the value of `fn`; rejects as {@link onError} does, after the last conflict
 * with that error unchanged
 *
 * Source: `RetryOnConflict` of k8s.io/client-go/util/retry.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { DefaultRetry, retryOnConflict } from "@holdfast/wait/go";
 *
 * const clock = new FakeClock();
 * const server = { replicas: 1, version: 7 };
 * const update = (object: typeof server) => {
 *   if (object.version !== server.version) throw { code: 409 };
 *   Object.assign(server, object, { version: server.version + 1 });
 * };
 *
 * let conflicts = 2;
 * const scale = async () => {
 *   const object = { ...server };
 *   if (conflicts-- > 0) server.version++; // another client was faster
 *   update({ ...object, replicas: 3 });
 * };
 * await clock.run(() => retryOnConflict(DefaultRetry, scale, { clock }));
 * console.log(server); // => { replicas: 3, version: 10 }
 * ```
 */
export async function retryOnConflict<Value>(
  backoff: BackoffOptions,
  fn: (signal: AbortSignal) => Value | PromiseLike<Value>,
  options: OnErrorOptions = {},
): Promise<Value> {
  return await onError(backoff, isConflict, fn, options);
}
