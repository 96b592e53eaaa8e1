import type { BackoffOptions } from "../delay/backoff-options.ts";
import { isConflict } from "./is-conflict.ts";
import { type OnErrorOptions, onError } from "./on-error.ts";

/**
 * Calls `fn` again, at most `steps` times in all, as long as the API server answers that somebody
 * else has changed the object: {@link onError} with {@link isConflict}.
 *
 * `fn` has to fetch the object anew each time; sending the same one again conflicts again.
 *
 * @param backoff - the delays; `steps` is also the largest number of calls. {@link DefaultRetry}
 * unless something is at work on the object all the time, {@link DefaultBackoff} then
 * @param fn - fetches, changes and updates. It receives the signal and should give up soon after it
 * aborts; errors of the client have to come out of it as they are
 * @param options - see {@link OnErrorOptions}
 * @returns the value of `fn`; rejects as {@link onError} does, after the last conflict with that
 * error itself
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
 *   if (conflicts-- > 0) server.version++; // somebody else was faster
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
