import { type Clock, realClock, type Timer } from "@holdfast/clock";
import { type Kinds, loopClock, read, requireMethods } from "@holdfast/kit";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";

export const BACKOFF_MANAGER_OPTIONS: Kinds<BackoffManagerOptions> = {
  clock: loopClock,
};

/**
 * Decides how long a loop waits before its next run.
 *
 * One manager serves one loop: it has one timer and re-arms it on each call. Wait for `timer.fired`,
 * and stop the timer if the loop ends early.
 *
 * Source: `BackoffManager` of k8s.io/apimachinery/pkg/util/wait.
 */
export interface BackoffManager {
  /** Arms the timer with the next delay and returns it. It is the same timer each time. */
  backoff(): Timer;
}

/** Options for {@link backoffManager}. */
export interface BackoffManagerOptions {
  /**
   * Measures the delays.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;
}

/**
 * A manager that takes one delay after another from a strategy and never starts over.
 *
 * A strategy may end by throwing. The manager then returns a timer whose `fired` rejects with that
 * error, so that a loop that arms its timer before a run still does that last run.
 *
 * @param strategy - the shape of the delays
 * @param options - see {@link BackoffManagerOptions}
 * @returns a manager for one loop
 * @throws TypeError if an argument has the wrong type
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { Backoff, backoffUntil } from "@holdfast/wait";
 * import { backoffManager } from "@holdfast/wait/loop";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const stop = new AbortController();
 * const runs: number[] = [];
 * const backoff = new Backoff({ duration: 100, factor: 2, cap: 300 });
 * const manager = backoffManager(backoff, { clock });
 * await clock.run(() =>
 *   backoffUntil(() => {
 *     if (runs.push(clock.monotonic() - start) === 5) stop.abort();
 *   }, manager, true, stop.signal),
 * );
 * console.log(runs); // => [ 0, 100, 300, 600, 900 ]
 * ```
 */
export function backoffManager(
  strategy: BackoffStrategy,
  options: BackoffManagerOptions = {},
): BackoffManager {
  requireMethods("strategy", strategy, ["delayFunc"]);
  const { clock = realClock } = read("options", options, "backoffManager", BACKOFF_MANAGER_OPTIONS);
  return managerOf(strategy.delayFunc(), clock);
}

/** A manager that takes its delays from a function. If that throws, `fired` rejects with the error. */
export function managerOf(next: DelayFunc, clock: Clock): BackoffManager {
  const timer = new ReusedTimer(clock);
  const backoff = (): Timer => {
    let delay: number;
    try {
      delay = next();
    } catch (error) {
      return new FailedTimer(error);
    }
    return timer.arm(delay);
  };
  return { backoff };
}

/** The one timer of a manager, created by its first use. */
export class ReusedTimer {
  readonly #clock: Clock;
  #timer: Timer | undefined = undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  arm(delay: number): Timer {
    if (this.#timer === undefined) this.#timer = this.#clock.newTimer(delay, { label: "backoff" });
    else this.#timer.reset(delay);
    return this.#timer;
  }
}

/** A timer in place of a delay that the strategy failed to supply. `fired` rejects with the error. */
class FailedTimer implements Timer {
  readonly active: boolean = false;
  readonly deadline: number = Number.POSITIVE_INFINITY;
  readonly #error: unknown;

  constructor(error: unknown) {
    this.#error = error;
  }

  get fired(): Promise<never> {
    return Promise.reject(this.#error);
  }

  stop(): boolean {
    return false;
  }

  reset(): boolean {
    return false;
  }

  [Symbol.dispose](): void {}
}
