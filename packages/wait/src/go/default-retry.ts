import type { BackoffOptions } from "../delay/backoff-options.ts";

/**
 * Delays for a conflict with a single other change of the object: five calls, 10 ms apart.
 *
 * Source: `DefaultRetry` of k8s.io/client-go/util/retry.
 *
 * @example
 * ```ts
 * import { DefaultRetry } from "@holdfast/wait/go";
 *
 * console.log(DefaultRetry); // => { duration: 10, factor: 1, jitter: 0.1, steps: 5 }
 * ```
 */
export const DefaultRetry: BackoffOptions = Object.freeze({
  duration: 10,
  factor: 1,
  jitter: 0.1,
  steps: 5,
});

/**
 * Delays for conflicts with a client that changes the object constantly: four calls, with delays of 10,
 * 50 and 250 ms.
 *
 * Source: `DefaultBackoff` of k8s.io/client-go/util/retry.
 *
 * @example
 * ```ts
 * import { DefaultBackoff } from "@holdfast/wait/go";
 *
 * console.log(DefaultBackoff); // => { duration: 10, factor: 5, jitter: 0.1, steps: 4 }
 * ```
 */
export const DefaultBackoff: BackoffOptions = Object.freeze({
  duration: 10,
  factor: 5,
  jitter: 0.1,
  steps: 4,
});
