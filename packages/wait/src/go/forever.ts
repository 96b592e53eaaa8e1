import type { PeriodicOptions } from "../loop/loop-options.ts";
import { until } from "./until.ts";

/**
 * Calls `fn` at once and then `period` after each end of it, for the life of the process.
 *
 * For what nobody ever has to stop; take {@link until} for everything else, tests included.
 *
 * @param fn - the work. The signal it receives never aborts
 * @param period - milliseconds, finite, at least 0
 * @param options - see {@link PeriodicOptions}
 * @returns a promise that never resolves; it rejects with what `fn` throws unless `onError` takes it,
 * and with a RangeError or TypeError if an argument is out of its range
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
  throw new Error("wait: a loop without an end has ended");
}
