/**
 * Says how long a key has to wait before it is tried again.
 *
 * A failure counts only once its back-off is over. Until then {@link RateLimiter.when} returns what
 * is left of it and counts nothing: a key that is run early, because something happened to it, and
 * fails again has not failed twice as badly (kubernetes/kubernetes#132805).
 *
 * A limiter belongs to one queue. Two that share one change each other's delays.
 *
 * Source: `TypedRateLimiter` of k8s.io/client-go/util/workqueue.
 */
export interface RateLimiter {
  /**
   * Counts a failure of `key`, unless it is still backing off.
   *
   * @returns how long from now the key has to wait, in milliseconds
   */
  when(key: string): number;

  /** Forgets the failures of `key`: it has succeeded, or nobody will try it again. */
  forget(key: string): void;

  /** How many failures of `key` are counted. */
  requeues(key: string): number;
}
