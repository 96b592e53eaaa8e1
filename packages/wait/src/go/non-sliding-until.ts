import { requireOptions } from "@holdfast/clock/internal";
import type { PeriodicOptions } from "../loop/loop-options.ts";
import { jitterUntil } from "./jitter-until.ts";

/**
 * Calls `fn` at once, then again `period` after each start of a call, until `signal` aborts.
 *
 * A call that outlasts its period is followed by the next at once; missed calls are skipped. Calls,
 * aborts, errors and the signal of `fn` are as in `backoffUntil`.
 *
 * @param fn - the work; receives `signal` and should settle soon after it aborts
 * @param period - milliseconds, finite, at least 0
 * @param signal - ends the loop
 * @param options - see {@link PeriodicOptions}
 * @returns a promise that settles when the loop has ended; no timer and no listener remain. Bad
 * arguments reject it with a RangeError or TypeError
 *
 * Source: `NonSlidingUntil` of k8s.io/apimachinery/pkg/util/wait.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { nonSlidingUntil } from "@holdfast/wait/go";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const stop = new AbortController();
 * const starts: number[] = [];
 *
 * const loop = nonSlidingUntil(
 *   async () => {
 *     starts.push(clock.monotonic() - start);
 *     await clock.sleep(300);
 *   },
 *   1_000,
 *   stop.signal,
 *   { clock },
 * );
 * await clock.step(2_500);
 * stop.abort();
 * await loop;
 * console.log(starts); // => [ 0, 1000, 2000 ]
 * ```
 */
export async function nonSlidingUntil(
  fn: (signal: AbortSignal) => unknown,
  period: number,
  signal: AbortSignal,
  options: PeriodicOptions = {},
): Promise<void> {
  requireOptions("options", options);
  const { clock, onError } = options;
  await jitterUntil(fn, period, signal, { clock, onError, sliding: false });
}
