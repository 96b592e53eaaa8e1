import { requireFunction } from "@holdfast/clock/internal";
import type { DelayFunc } from "../delay/backoff-strategy.ts";
import type { Condition, PollUntilOptions } from "./condition-options.ts";
import { pollCondition } from "./poll-condition.ts";

/**
 * Calls `condition` with growing delays between the calls, until it returns true.
 *
 * Results, aborts, timeouts and errors are as in {@link pollUntil}. Without `sliding`, a delay starts
 * when a call starts, so a call that outlasts its delay is followed by the next one at once.
 *
 * @param delayFunc - the delays in milliseconds, such as `Backoff.delayFunc`; give every wait a
 * sequence of its own. Called before each call of `condition`, or after it with `sliding`
 * @param condition - the condition; receives a signal that aborts with `signal` and with the timeout,
 * and should settle soon after
 * @param options - see {@link PollUntilOptions}
 * @returns a promise that resolves when the condition is true; bad arguments reject it with a
 * RangeError or TypeError. When it settles, no timer and no listener remain
 *
 * Source: `DelayFunc.Until` of k8s.io/apimachinery/pkg/util/wait.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { Backoff } from "@holdfast/wait";
 * import { delayUntil } from "@holdfast/wait/go";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const asked: number[] = [];
 * const delays = new Backoff({ duration: 100, factor: 2, cap: 500 }).delayFunc();
 * await clock.run(() =>
 *   delayUntil(delays, () => asked.push(clock.monotonic() - start) === 5, { clock }),
 * );
 * console.log(asked); // => [ 0, 100, 300, 700, 1200 ]
 * ```
 */
export async function delayUntil(
  delayFunc: DelayFunc,
  condition: Condition,
  options: PollUntilOptions = {},
): Promise<void> {
  requireFunction("delayFunc", delayFunc);
  await pollCondition(condition, options, () => delayFunc);
}
