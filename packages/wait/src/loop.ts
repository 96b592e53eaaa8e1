import { onAbort, type Timer } from "@holdfast/clock";
import type { BackoffManager } from "./backoff-manager.ts";

/** Everything in this package that repeats is one of these. */
export interface Loop<Value> {
  readonly run: (signal: AbortSignal) => Value | PromiseLike<Value>;
  /** Whether a value of `run` ends the loop; without it each does. */
  readonly isDone?: (value: Value) => boolean;
  /**
   * Gets what `run` throws, unless that is only the abort, and whether the signal has aborted. It is
   * waited for. Without it an error ends the loop.
   */
  readonly onError: ((error: unknown, isStopped: boolean) => unknown) | undefined;
  readonly manager: BackoffManager;
  /** Whether the first run comes before the first delay; by default it does. */
  readonly immediate?: boolean;
  /** Whether it starts even if the signal has aborted: an immediate first run comes all the same. */
  readonly evenIfAborted?: boolean;
  /** When a delay starts counting: true, the default, after `run` has settled, false when it is called. */
  readonly sliding?: boolean;
  readonly signal: AbortSignal;
}

/** What the last run of a loop came to. */
export interface Done<Value> {
  readonly value: Value;
}

/**
 * Runs, waits, runs, until a run has done what the loop is for, or the signal aborts.
 *
 * The order of the calls is Go's: without `sliding` the timer is armed before the run, so that an
 * overrun is followed by the next run at once; the signal is looked at after every wait, so that a
 * timer that fires together with the abort does not start another run.
 *
 * @returns the value that `isDone`, or undefined if the loop was stopped. What `isDone`, `onError` or
 * `manager` throws rejects it: that is how a limit ends a loop
 */
export async function loop<Value>(options: Loop<Value>): Promise<Done<Value> | undefined> {
  const { run, isDone, onError, manager, immediate, evenIfAborted, sliding, signal } = options;
  const comesTooLate = () => signal.aborted && !evenIfAborted;
  if (comesTooLate()) return undefined;
  let timer: Timer | undefined;
  // What `signal.aborted` says. On Node 20 every signal has a hidden class of its own, so that each look
  // at one would cost a failed attempt of `retry` two percent.
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    timer?.stop();
  };
  const armIf = (condition: boolean) => {
    if (!condition) return;
    timer = manager.backoff();
    if (isStopped) stop();
  };
  // Whether an error is only the stop that user code was told of.
  const isStop = (error: unknown) => isStopped && Object.is(error, signal.reason);
  const handle = (error: unknown): unknown => {
    if (onError === undefined || isStop(error)) throw error;
    return onError(error, isStopped);
  };
  const isOver = (done?: Done<Value>) => done !== undefined && (isDone?.(done.value) ?? true);
  const subscription = onAbort(signal, stop);
  try {
    armIf(immediate === false);
    while (timer === undefined || ((await timer.fired) && !isStopped)) {
      armIf(sliding === false);
      let done: Done<Value> | undefined;
      let handling: unknown;
      try {
        done = { value: await run(signal) };
      } catch (error) {
        handling = handle(error);
      }
      // To wait for nothing would cost a failed attempt of `retry` some three percent.
      if (handling !== undefined) await (handling as Promise<unknown>);
      if (isOver(done)) return done;
      armIf(sliding !== false);
    }
  } catch (error) {
    if (!isStop(error)) throw error;
  } finally {
    subscription[Symbol.dispose]();
    stop();
  }
  return undefined;
}
