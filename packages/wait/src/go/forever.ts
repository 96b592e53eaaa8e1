import type { PeriodicOptions } from "../loop/loop-options.ts";
import { until } from "./until.ts";

/**
 * Calls `fn` at once, then again `period` after each call has settled, for the life of the process.
 *
 * No signal ends this loop. Prefer {@link until}, and always use it in tests.
 *
 * @param fn - the work; the signal it receives never aborts
 * @param period - milliseconds, finite, at least 0
 * @param options - see {@link PeriodicOptions}
 * @returns a promise that never resolves; rejects with an error of `fn` without `onError`, and with a
 * RangeError or TypeError for a bad argument
 *
 * Source: `Forever` of k8s.io/apimachinery/pkg/util/wait.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { forever } from "@holdfast/wait/go";
 *
 * const clock = new FakeClock();
 * let left = 3;
 * const end = clock.run(() =>
 *   forever(() => {
 *     if (left-- === 0) throw new Error("out of work");
 *   }, 1_000, { clock }),
 * );
 * console.log(`${await end.catch((error: unknown) => error)}`); // => Error: out of work
 * ```
 */
export async function forever(
  fn: (signal: AbortSignal) => unknown,
  period: number,
  options: PeriodicOptions = {},
): Promise<never> {
  await until(fn, period, new AbortController().signal, options);
  throw new Error("forever: other code stopped the timer of the loop");
}
