import { requireOptions } from "@holdfast/clock/internal";
import type { PeriodicOptions } from "../loop/loop-options.ts";
import { jitterUntil } from "./jitter-until.ts";

/**
 * Calls `fn` at once and then every `period`, counted from start to start, until `signal` aborts.
 *
 * An `fn` that outlasts its period is followed by the next call at once; missed ones are not made up
 * for. Calls, aborts and errors are as in `backoffUntil`.
 *
 * @param fn - the work. It receives `signal` and should give up soon after it aborts
 * @param period - milliseconds, finite, at least 0
 * @param signal - ends the loop
 * @param options - see {@link PeriodicOptions}
 * @returns a promise that settles when the loop has ended and no timer or listener is left; bad
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
