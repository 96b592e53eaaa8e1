import {
  read,
  requireBoolean,
  requireFunction,
  requireMethods,
  requireSignal,
} from "@holdfast/kit";
import type { BackoffManager } from "./backoff-manager.ts";
import { loop } from "./loop.ts";
import { LOOP_OPTIONS, type LoopOptions } from "./loop-options.ts";

/**
 * Calls `fn` until `signal` aborts, with the delays of `manager` between the calls.
 *
 * The first call is immediate. Calls never overlap. An abort is the normal end of a loop, so the
 * promise resolves.
 *
 * | Event | Result |
 * | --- | --- |
 * | `signal` is already aborted | resolves; `fn` is not called |
 * | `signal` aborts during a delay | stops the timer and resolves at once |
 * | `signal` aborts during `fn` | waits for `fn` to settle, then resolves |
 * | `fn` rejects with `signal.reason` after the abort | resolves |
 * | `fn` throws or rejects, with `onError` | calls `onError` with the error, continues after the delay |
 * | `fn` throws or rejects, without `onError` | rejects with the error unchanged |
 * | other code stops the timer of `manager` | resolves |
 *
 * `fn` receives `signal` itself. Remove listeners that `fn` adds to it: they stay until the signal is
 * garbage collected.
 *
 * @param fn - the work; receives `signal` and should settle soon after it aborts
 * @param manager - decides each delay; give every loop a manager of its own
 * @param sliding - true: a delay starts when `fn` settles. false: it starts when `fn` is called, so a
 * call that outlasts its delay is followed by the next at once, and missed calls are skipped
 * @param signal - ends the loop
 * @param options - see {@link LoopOptions}
 * @returns a promise that settles when the loop has ended; no timer and no listener remain. Bad
 * arguments reject it with a TypeError
 *
 * Source: `BackoffUntil` of k8s.io/apimachinery/pkg/util/wait. `onError` corresponds to its crash
 * handlers with `ReallyCrash = false`.
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
  const { onError } = read("options", options, "backoffUntil", LOOP_OPTIONS);
  await loop({ run: fn, onError, manager, sliding, signal });
}
