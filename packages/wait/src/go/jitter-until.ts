import { requireAtLeast, requireBoolean, requireOptions } from "@holdfast/clock/internal";
import type { Random } from "../delay/random.ts";
import { backoffUntil } from "../loop/backoff-until.ts";
import { JitteredBackoffManager } from "../loop/jittered-backoff-manager.ts";
import type { PeriodicOptions } from "../loop/loop-options.ts";

/** Options for {@link jitterUntil}. */
export interface JitterUntilOptions extends PeriodicOptions {
  /**
   * Maximum random addition, as a share of the period. Finite, at least 0.
   *
   * @defaultValue `0`, no randomness
   */
  readonly jitter?: number | undefined;

  /**
   * Start of a period. true: when `fn` settles. false: when `fn` is called.
   *
   * @defaultValue `true`
   */
  readonly sliding?: boolean | undefined;

  /**
   * Source of randomness.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/**
 * Calls `fn` at once, then again after a period with jitter, until `signal` aborts.
 *
 * Calls, aborts, errors and the signal of `fn` are as in `backoffUntil`.
 *
 * @param fn - the work; receives `signal` and should settle soon after it aborts
 * @param period - delay between calls before jitter: milliseconds, finite, at least 0
 * @param signal - ends the loop
 * @param options - see {@link JitterUntilOptions}
 * @returns a promise that settles when the loop has ended; no timer and no listener remain. Bad
 * arguments reject it with a RangeError or TypeError
 *
 * Source: `JitterUntil` of k8s.io/apimachinery/pkg/util/wait.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { seededRandom } from "@holdfast/wait";
 * import { jitterUntil } from "@holdfast/wait/go";
 *
 * const clock = new FakeClock();
 * const stop = new AbortController();
 * let reports = 0;
 * const loop = jitterUntil(() => reports++, 10_000, stop.signal, {
 *   jitter: 0.5, clock, random: seededRandom(1),
 * });
 * await clock.step(60_000);
 * stop.abort();
 * await loop;
 * console.log(reports >= 4 && reports <= 7); // => true
 * ```
 */
export async function jitterUntil(
  fn: (signal: AbortSignal) => unknown,
  period: number,
  signal: AbortSignal,
  options: JitterUntilOptions = {},
): Promise<void> {
  requireAtLeast("period", period, 0);
  requireOptions("options", options);
  const { jitter = 0, sliding = true, clock, random, onError } = options;
  requireAtLeast("options.jitter", jitter, 0);
  requireBoolean("options.sliding", sliding);
  const manager = new JitteredBackoffManager({ duration: period, jitter, clock, random });
  await backoffUntil(fn, manager, sliding, signal, { onError });
}
