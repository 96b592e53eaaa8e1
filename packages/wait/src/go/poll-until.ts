import type { Clock } from "@holdfast/clock";
import { requireAtLeast, requireFunction } from "@holdfast/kit";
import type { DelayFunc } from "../delay/backoff-strategy.ts";
import { toMilliseconds, toNanoseconds } from "../delay/nanoseconds.ts";
import { pollCondition } from "./condition-loop.ts";
import type { Condition, PollUntilOptions } from "./condition-options.ts";

/**
 * Calls `condition` once per `interval` until it returns true.
 *
 * Calls never overlap. Without `sliding` they follow a grid that starts with the first call. After a
 * call that outlasts its interval, one call follows at once and the next is on the grid again. Missed
 * calls are skipped.
 *
 * | Event | Result |
 * | --- | --- |
 * | `condition` returns true | resolves, even if the signal has aborted during the call |
 * | `condition` throws or rejects, with `onError` | calls `onError` with the error, continues as after false |
 * | `condition` throws or rejects, without `onError` | rejects with the error unchanged |
 * | `signal` is already aborted | with `immediate`, calls `condition` once; then rejects with `signal.reason` |
 * | `signal` aborts during a delay | stops the timer and rejects with `signal.reason` at once |
 * | `signal` aborts during a call | waits for the call; unless it returns true, rejects with `signal.reason` |
 * | `timeout` expires | as an abort, with a `TimeoutError` as the reason |
 *
 * Without `timeout`, `condition` receives the `signal` of the options itself. Remove listeners that it
 * adds to it: they stay until the signal is garbage collected. With `timeout`, all calls share a
 * signal of the poll's own. It aborts when the poll settles, so work that a call has started ends too.
 *
 * @param condition - the condition; receives a signal that aborts with `signal` and with the timeout,
 * and should settle soon after
 * @param interval - milliseconds, finite, at least 0, rounded to whole nanoseconds as a duration of Go; 0
 * means no delay between calls
 * @param options - see {@link PollUntilOptions}
 * @returns a promise that resolves when the condition is true; bad arguments reject it with a
 * RangeError or TypeError. When it settles, no timer and no listener remain
 *
 * @remarks
 * Two surprises are kept from Go. An immediate poll calls the condition once even if its signal has
 * aborted or its timeout is 0. A poll that is not immediate never calls it if the timeout is shorter
 * than the interval. Unlike in Go, an abort comes before a delay that ends at the same instant, and
 * `sliding` takes effect.
 *
 * Source: `PollUntilContextCancel` and `PollUntilContextTimeout` of
 * k8s.io/apimachinery/pkg/util/wait.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { pollUntil } from "@holdfast/wait/go";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const isReady = () => clock.monotonic() - start >= 1_800;
 *
 * await clock.run(() => pollUntil(isReady, 500, { timeout: 30_000, clock }));
 * console.log(clock.monotonic() - start); // => 2000
 *
 * const never = clock.run(() => pollUntil(() => false, 500, { timeout: 1_200, clock }));
 * console.log(`${await never.catch((error: unknown) => error)}`);
 * // => TimeoutError: timed out after 1200 ms
 * ```
 */
export async function pollUntil(
  condition: Condition,
  interval: number,
  options: PollUntilOptions = {},
): Promise<void> {
  requireAtLeast("interval", interval, 0);
  await pollCondition(condition, options, (sliding, clock) =>
    sliding ? () => interval : ticks(interval, clock),
  );
}

/**
 * The grid of a ticker: each delay ends at the next multiple of the interval, counted from the first
 * call. Missed points are skipped.
 */
function ticks(interval: number, clock: Clock): DelayFunc {
  const period = toNanoseconds(interval);
  let start: number | undefined;
  return () => {
    const now = clock.monotonic();
    start ??= now;
    const passed = period === 0 ? 0 : toNanoseconds(now - start) % period;
    return toMilliseconds(period - passed);
  };
}

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
