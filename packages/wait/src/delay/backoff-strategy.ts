/**
 * Returns the next delay in milliseconds each time it is called.
 *
 * Source: `DelayFunc` of k8s.io/apimachinery/pkg/util/wait.
 */
export type DelayFunc = () => number;

/**
 * A shape of delays. Any strategy drives any loop; each loop takes its own {@link DelayFunc}, so one
 * strategy can serve any number of loops.
 *
 * @example
 * ```ts
 * import type { BackoffStrategy } from "@holdfast/wait";
 *
 * const everyOtherSecond: BackoffStrategy = { delayFunc: () => () => 2_000 };
 * console.log(everyOtherSecond.delayFunc()()); // => 2000
 * ```
 */
export interface BackoffStrategy {
  /** A fresh sequence of delays from the first on. */
  delayFunc(): DelayFunc;
}
