/**
 * A sequence of delays: each call returns the next delay, in milliseconds.
 *
 * Source: `DelayFunc` of k8s.io/apimachinery/pkg/util/wait.
 */
export type DelayFunc = () => number;

/**
 * A shape of delays. Any strategy drives any loop. Each loop calls `delayFunc` once and owns the
 * sequence, so one strategy can serve any number of loops.
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
  /** Starts a new sequence at the first delay. */
  delayFunc(): DelayFunc;
}
