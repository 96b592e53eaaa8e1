/**
 * Delays of retries, and the failures of each key that they depend on.
 *
 * A failure counts only after the backoff of the one before. During the backoff
 * {@link RateLimiter.when} returns the rest of the delay and counts nothing: an event may run a key
 * early, and another failure then says nothing new (kubernetes/kubernetes#132805).
 *
 * A limiter belongs to one queue. Two queues that share a limiter affect each other's delays.
 *
 * Source: `TypedRateLimiter` of k8s.io/client-go/util/workqueue. Unlike there, every limiter counts the
 * failures of each key.
 */
export interface RateLimiter {
  /**
   * Counts a failure of `key`, unless the key is still backing off.
   *
   * @param key - the key that failed
   * @param after - delay in milliseconds that the failure itself demands, such as `RetryAfterError.after`.
   * A controller passes it if it is longer than the limiter's delay. It replaces that delay, even during a backoff: the key then backs off for this long from
   * now. The failure counts like any other. `Infinity` is no backoff: the key waits for an event, and its
   * next failure counts
   * @returns the delay before the next attempt, in milliseconds
   */
  when(key: string, after?: number): number;

  /** Forgets the failures of `key`. Call it after success, or when the key is given up. */
  forget(key: string): void;

  /**
   * Number of counted failures of `key`, at least 0. A `Controller` derives `attempt` from it and
   * compares it with `retries`: with a limiter that always returns 0, every attempt is the first,
   * and no key is ever given up.
   */
  requeues(key: string): number;
}
