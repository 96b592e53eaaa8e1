import { type Clock, onAbort, realClock, type Timer } from "@holdfast/clock";
import {
  abortSignal,
  flag,
  func,
  isStop,
  type Kinds,
  loopClock,
  methods,
  read,
  requireAnswer,
  required,
  requireFunction,
} from "@holdfast/kit";
import type { DelayFunc } from "../delay/backoff-strategy.ts";
import { type BackoffManager, managerOf } from "./backoff-manager.ts";

/** Options for {@link loop}: the work, and either a delay or a manager. */
export type Loop<Value> = LoopWork<Value> & (LoopDelay | LoopManager);

/** A loop with a timer of its own. */
export interface LoopDelay {
  /** Returns the milliseconds until the next run. */
  readonly delay: DelayFunc;

  /**
   * Measures the delays.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /** Belongs to {@link LoopManager}. */
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

  /**
   * Whether a value of `run` ends the loop.
   *
   * @defaultValue none does
   */
  readonly isDone?: ((value: Value) => boolean) | undefined;

  /**
   * Receives each error of `run` and is awaited; the loop then continues after the normal delay. If it throws, the loop
   * rejects with that error.
   *
   * @defaultValue none: the loop rejects with the first error
   */
  readonly onError?: ((error: unknown) => unknown) | undefined;

  /**
   * Whether the first run comes before the first delay.
   *
   * @defaultValue `true`
   */
  readonly immediate?: boolean | undefined;

  /**
   * Whether a delay starts when `run` has settled (true) or when it is called.
   *
   * @defaultValue `true`
   */
  readonly sliding?: boolean | undefined;

  /** Ends the loop. */
  readonly signal: AbortSignal;
}

/** The options of both forms. */
type LoopParts = LoopWork<never> & {
  readonly delay?: DelayFunc;
  readonly clock?: Clock | undefined;
  readonly manager?: BackoffManager | undefined;
};

export const LOOP: Kinds<LoopParts> = {
  run: required(func),
  isDone: func,
  onError: func,
  immediate: flag,
  sliding: flag,
  signal: required(abortSignal),
  delay: func,
  clock: loopClock,
  manager: methods("backoff"),
};

/** The value that ended a loop. */
export interface Done<Value> {
  /** The value. */
  readonly value: Value;
}

/**
 * Runs, waits, runs again, until a value of `run` ends the loop or `signal` aborts. Everything in
 * this package that repeats is built on this function: use it for a loop that none of them is.
 *
 * Resolves with the final value, or with `undefined` if the loop stopped without one: after an abort,
 * or because other code stopped the timer of `manager`. An error that only passes on the
 * abort counts as stopping, not as a failure. No timer and no listener remain.
 *
 * @param options - see {@link LoopWork}, {@link LoopDelay} and {@link LoopManager}
 * @returns the value that ended the loop; bad options reject it with a RangeError or TypeError
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { loop } from "@holdfast/wait/loop";
 *
 * const clock = new FakeClock();
 * const { signal } = new AbortController();
 * const start = clock.monotonic();
 * let size = 1;
 * const isDone = (value: number) => value > 50;
 * const done = await clock.run(() =>
 *   loop({ run: () => (size *= 2), isDone, delay: () => 100 * size, clock, signal }),
 * );
 * console.log(done, clock.monotonic() - start); // => { value: 64 } 6200
 * ```
 */
export async function loop<Value>(options: Loop<Value>): Promise<Done<Value> | undefined> {
  read("options", options as LoopParts, "loop", LOOP);
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
      if (done !== undefined && requireAnswer("isDone(value)", isDone(done.value))) return done;
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
  if (options.manager !== undefined) return options.manager;
  requireFunction("options.delay", options.delay);
  return managerOf(options.delay, options.clock ?? realClock);
}
