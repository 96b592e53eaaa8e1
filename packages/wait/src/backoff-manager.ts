import type { Clock, Timer } from "@holdfast/clock";
import { requireMethods } from "@holdfast/clock/internal";
import type { BackoffStrategy } from "./backoff-strategy.ts";
import { rearmedTimer } from "./rearmed-timer.ts";
import { SpentTimer } from "./spent-timer.ts";

/**
 * Decides how long a loop waits before it runs again.
 *
 * One manager serves one loop: it has one timer, and arms it anew on each call. Wait for
 * `timer.fired`, and stop the timer where the loop ends early.
 *
 * Source: `BackoffManager` of k8s.io/apimachinery/pkg/util/wait.
 */
export interface BackoffManager {
  /** Arms the timer with the next delay and returns it; always the same one. */
  backoff(): Timer;
}

/**
 * A manager that takes its delays from a strategy, one after the other, and never starts over.
 *
 * A strategy may end by throwing. Its manager does not: it returns a timer whose `fired` rejects with
 * that error, so that a loop that arms the timer before a run has that run, the last one.
 *
 * @param strategy - the shape of the delays
 * @param clock - measures them
 * @returns a manager for one loop
 * @throws TypeError if an argument is of the wrong type
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { Backoff, backoffUntil, managerOf } from "@holdfast/wait";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const stop = new AbortController();
 * const runs: number[] = [];
 * const manager = managerOf(new Backoff({ duration: 100, factor: 2, cap: 300 }), clock);
 * await clock.run(() =>
 *   backoffUntil(() => {
 *     if (runs.push(clock.monotonic() - start) === 5) stop.abort();
 *   }, manager, true, stop.signal),
 * );
 * console.log(runs); // => [ 0, 100, 300, 600, 900 ]
 * ```
 */
export function managerOf(strategy: BackoffStrategy, clock: Clock): BackoffManager {
  requireMethods("strategy", strategy, ["delayFunc"]);
  const arm = rearmedTimer("clock", clock);
  const next = strategy.delayFunc();
  const backoff = (): Timer => {
    let delay: number;
    try {
      delay = next();
    } catch (error) {
      return new SpentTimer(error);
    }
    return arm(delay);
  };
  return { backoff };
}
