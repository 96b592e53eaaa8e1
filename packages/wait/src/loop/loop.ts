import { type Clock, onAbort, type Timer } from "@holdfast/clock";
import { isStop } from "@holdfast/clock/internal";
import type { DelayFunc } from "../delay/backoff-strategy.ts";
import { type BackoffManager, managerOf } from "./backoff-manager.ts";

/** Options for {@link loop}. */
export type Loop<Value> = LoopWork<Value> & (LoopDelay | LoopManager);

/** A loop with a timer of its own. */
export interface LoopDelay {
  /** Returns the milliseconds until the next run. */
  readonly delay: DelayFunc;
  /** Measures the delays. */
  readonly clock: Clock;
  readonly manager?: undefined;
}

/** A loop with a timer that other code may stop and reset. */
export interface LoopManager {
  /** Arms the timer between two runs. */
  readonly manager: BackoffManager;
}

/** The work of a {@link loop}, and when it runs. */
export interface LoopWork<Value> {
  /** The work. It receives `signal`. */
  readonly run: (signal: AbortSignal) => Value | PromiseLike<Value>;
  /** Whether a value of `run` ends the loop. By default none does. */
  readonly isDone?: (value: Value) => boolean;
  /** Receives each error of `run` and is awaited. Without it, or if it throws, the loop rejects. */
  readonly onError?: ((error: unknown) => unknown) | undefined;
  /** Whether the first run comes before the first delay. Default: true. */
  readonly immediate?: boolean;
  /** Whether a delay starts when `run` has settled (true, the default) or when it is called. */
  readonly sliding?: boolean;
  /** Ends the loop. */
  readonly signal: AbortSignal;
}

/** The value that ended a loop. */
export interface Done<Value> {
  readonly value: Value;
}

/**
 * Runs, waits, runs again, until a value of `run` ends the loop or `signal` aborts. Everything in
 * this package that repeats is built on this function.
 *
 * Resolves with the final value, or with `undefined` if the loop stopped without one: after an abort,
 * or because other code stopped the timer of `manager`. An error that only passes on the
 * abort counts as stopping, not as a failure. No timer and no listener remain.
 */
export async function loop<Value>(options: Loop<Value>): Promise<Done<Value> | undefined> {
  const { run, isDone = () => false, onError, immediate = true, sliding = true, signal } = options;
  if (signal.aborted) return undefined;
  const manager = managerFor(options);

  let timer: Timer | undefined;
  const subscription = onAbort(signal, () => timer?.stop());
  try {
    if (!immediate) {
      timer = manager.backoff();
      if (!(await timer.fired)) return undefined;
    }
    while (!signal.aborted) {
      if (!sliding) timer = manager.backoff();
      let done: Done<Value> | undefined;
      try {
        done = { value: await run(signal) };
      } catch (error) {
        if (onError === undefined || isStop(error, signal)) throw error;
        await onError(error);
      }
      if (done !== undefined && isDone(done.value)) return done;
      if (sliding) timer = manager.backoff();
      if (signal.aborted || !(await timer?.fired)) return undefined;
    }
  } catch (error) {
    if (!isStop(error, signal)) throw error;
  } finally {
    subscription[Symbol.dispose]();
    timer?.stop();
  }
  return undefined;
}

function managerFor(options: LoopDelay | LoopManager): BackoffManager {
  return options.manager ?? managerOf(options.delay, options.clock);
}
