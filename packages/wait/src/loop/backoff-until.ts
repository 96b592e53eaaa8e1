import {
  requireBoolean,
  requireFunction,
  requireHooks,
  requireMethods,
  requireOptions,
  requireSignal,
} from "@holdfast/clock/internal";
import type { BackoffManager } from "./backoff-manager.ts";
import { loop } from "./loop.ts";
import type { LoopOptions } from "./loop-options.ts";

/**
 * Calls `fn` again and again, with the delays of `manager` between the calls, until `signal` aborts.
 *
 * The first call is immediate. Calls never overlap. An abort is the normal end of this loop, so the
 * promise resolves.
 *
 * | What happens | What `backoffUntil` does |
 * | --- | --- |
 * | `signal` is aborted already | resolves; `fn` is never called |
 * | `signal` aborts during a delay | stops the timer and resolves at once |
 * | `signal` aborts during `fn` | waits for `fn` to settle, then resolves |
 * | `fn` rejects with `signal.reason` after the abort | resolves: it stopped as told |
 * | `fn` throws or rejects, `onError` is given | hands the error over, goes on after the delay |
 * | `fn` throws or rejects otherwise | rejects with that error, leaving no timer |
 * | somebody else stops the timer of `manager` | resolves: no further call could come |
 *
 * @param fn - the work. It receives `signal` and should give up soon after it aborts
 * @param manager - decides each delay; give every loop its own
 * @param sliding - when a delay starts counting: true after `fn` has settled, false when it is
 * called. With false, an `fn` that outlasts its delay is followed by the next call at once; missed
 * ones are not made up for
 * @param signal - ends the loop
 * @param options - see {@link LoopOptions}
 * @returns a promise that settles when the loop has ended and no timer or listener is left; bad
 * arguments reject it with a TypeError
 *
 * Source: `BackoffUntil` of k8s.io/apimachinery/pkg/util/wait. `onError` is what its crash handler
 * is with `ReallyCrash = false`.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { backoffUntil, ExponentialBackoffManager } from "@holdfast/wait";
 *
 * const clock = new FakeClock();
 * const stop = new AbortController();
 * const manager = new ExponentialBackoffManager({ duration: 100, factor: 2, cap: 400, clock });
 * let connected = 0;
 *
 * const loop = backoffUntil(
 *   () => {
 *     if (++connected < 4) throw new Error("refused");
 *   },
 *   manager,
 *   true,
 *   stop.signal,
 *   { onError: (error) => console.log(`${error}`) },
 * );
 * await clock.step(700);
 * stop.abort();
 * await loop;
 * console.log(connected, clock.waiters());
 * // => Error: refused
 * // => Error: refused
 * // => Error: refused
 * // => 4 0
 * ```
 */
export async function backoffUntil(
  fn: (signal: AbortSignal) => unknown,
  manager: BackoffManager,
  sliding: boolean,
  signal: AbortSignal,
  options: LoopOptions = {},
): Promise<void> {
  requireFunction("fn", fn);
  requireMethods("manager", manager, ["backoff"]);
  requireBoolean("sliding", sliding);
  requireSignal("signal", signal);
  requireOptions("options", options);
  requireHooks("options", options, ["onError"]);
  const { onError } = options;
  await loop({ run: fn, isDone: () => false, onError, manager, sliding, signal });
}
