import { requireFunction } from "@holdfast/clock/internal";
import type { DelayFunc } from "../delay/backoff-strategy.ts";
import { backoffManager } from "../loop/backoff-manager.ts";
import type { Condition, PollUntilOptions } from "./condition-options.ts";
import { pollCondition } from "./poll-condition.ts";

/**
 * Asks `condition` with the delays of a function between the calls, until it is true.
 *
 * Answers, aborts, timeouts and errors are as in {@link pollUntil}. Without `sliding` a delay counts
 * from the beginning of a call, so that one that outlasts its delay is followed by the next at once.
 *
 * @param delayFunc - the delays in milliseconds, such as `Backoff.delayFunc`; give every wait
 * its own. It is asked for the next one before each call, or after it with `sliding`
 * @param condition - what to ask. It receives a signal that aborts with `signal` and with the
 * timeout, and should give up soon after
 * @param options - see {@link PollUntilOptions}
 * @returns a promise that settles when the wait has ended and no timer or listener is left; bad
 * arguments reject it with a RangeError or TypeError
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
  await pollCondition(condition, options, (_sliding, clock) =>
    backoffManager({ delayFunc: () => delayFunc }, { clock }),
  );
}
