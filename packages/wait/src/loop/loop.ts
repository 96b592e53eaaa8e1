import { onAbort, type Timer } from "@holdfast/clock";
import type { BackoffManager } from "./backoff-manager.ts";

/** Options for {@link loop}. */
export interface Loop<Value> {
  /** The work. It receives `signal`. */
  readonly run: (signal: AbortSignal) => Value | PromiseLike<Value>;
  /** Whether a value of `run` ends the loop. By default every value does. */
  readonly isDone?: (value: Value) => boolean;
  /** Receives each error of `run` and is awaited. Without it, or if it throws, the loop rejects. */
  readonly onError?: ((error: unknown) => unknown) | undefined;
  /** Arms the timer between two runs. */
  readonly manager: BackoffManager;
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
 * or because other code stopped the timer of `manager`. An error that is `signal.reason` after the
 * abort counts as stopping, not as a failure. No timer and no listener remain.
 */
export async function loop<Value>(options: Loop<Value>): Promise<Done<Value> | undefined> {
  const { run, isDone = () => true, onError, manager, immediate = true, sliding = true } = options;
  const { signal } = options;
  if (signal.aborted) return undefined;

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

/** Whether an error is the abort itself, passed on by code that obeyed the signal. */
function isStop(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && Object.is(error, signal.reason);
}
