import { realClock, type Timer } from "@holdfast/clock";
import { requireOptions } from "@holdfast/clock/internal";
import type { BackoffOptions } from "../delay/backoff-options.ts";
import { Growth, growthState } from "../delay/growth.ts";
import { type BackoffManager, ReusedTimer } from "../loop/backoff-manager.ts";
import { conditionLoop, requireCondition } from "./condition-loop.ts";
import type { Condition, ConditionOptions } from "./condition-options.ts";
import { ExhaustedError } from "./exhausted-error.ts";

/** What {@link exponentialBackoff} can be told. */
export interface ExponentialBackoffOptions extends ConditionOptions {
  /** The delays; `steps` is also the largest number of calls. A call without `steps` may not end. */
  readonly backoff: BackoffOptions;
}

/**
 * Asks `condition` at most `steps` times, with growing delays between the calls, until it is true.
 *
 * | What happens | What `exponentialBackoff` does |
 * | --- | --- |
 * | `condition` is true | resolves |
 * | `condition` throws or rejects, `onError` is given | hands the error over, goes on as after false |
 * | `condition` throws or rejects otherwise | rejects with that error |
 * | it was not true at its last call | rejects with an {@link ExhaustedError}, without another delay |
 * | the delay reaches its `cap` | sleeps the delay of before and rejects with an `ExhaustedError` |
 * | `signal` is aborted already | rejects with `signal.reason` itself; never asks |
 * | `signal` aborts during a delay | stops the timer and rejects at once with `signal.reason` itself |
 * | `signal` aborts during a call | waits for it to settle; if it is not true, rejects with `signal.reason`, or as exhausted if it was the last |
 *
 * @param condition - what to ask. It receives the signal and should give up soon after it aborts
 * @param options - see {@link ExponentialBackoffOptions}
 * @returns a promise that settles when the wait has ended and no timer or listener is left; bad
 * arguments reject it with a RangeError or TypeError
 *
 * @remarks
 * Three surprises are kept from Go. `cap` ends the attempts: the delay that would first exceed it is
 * neither slept nor followed by a call, and the one before it is slept for nothing
 * (kubernetes/kubernetes#131122). With `steps: 0` the condition is never asked, and the wait is
 * exhausted even if its signal has aborted. And an abort during the last call is told as exhaustion.
 * What stays at its cap is {@link delayUntil} with a timeout, or `retry` for work that fails.
 *
 * Source: `ExponentialBackoff` and `ExponentialBackoffWithContext` of
 * k8s.io/apimachinery/pkg/util/wait.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { exponentialBackoff } from "@holdfast/wait/go";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * async function askedAt(cap?: number): Promise<string> {
 *   const asked: number[] = [];
 *   const begin = clock.monotonic();
 *   const ask = () => asked.push(clock.monotonic() - begin) > 9;
 *   const backoff = { duration: 1_000, factor: 2, steps: 4, cap };
 *   const end = await clock.run(() => exponentialBackoff(ask, { backoff, clock })).catch(String);
 *   return `${asked.join(" ")}, then at ${clock.monotonic() - begin} ${end}`;
 * }
 *
 * console.log(await askedAt());
 * // => 0 1000 3000 7000, then at 7000 ExhaustedError: still false after 4 attempts
 * console.log(await askedAt(3_000));
 * // => 0 1000, then at 3000 ExhaustedError: still false after 2 attempts
 * ```
 */
export async function exponentialBackoff(
  condition: Condition,
  options: ExponentialBackoffOptions,
): Promise<void> {
  requireOptions("options", options);
  requireCondition(condition, options);
  const { clock = realClock, onError, signal = new AbortController().signal } = options;
  const attempts = new Attempts(options.backoff, new ReusedTimer("options.clock", clock));
  if (attempts.over) throw new ExhaustedError(0);
  const ask: Condition = (told) => attempts.mayAsk() && condition(told);
  await conditionLoop({ condition: ask, manager: attempts, signal, onError });
}

/** Counts the calls, and decides whether another delay follows. */
class Attempts extends Growth implements BackoffManager {
  readonly #timer: ReusedTimer;
  #made = 0;

  constructor(options: BackoffOptions, timer: ReusedTimer) {
    requireOptions("options.backoff", options);
    super(growthState("options.backoff", options));
    this.#timer = timer;
  }

  /** Whether there is no step left. */
  get over(): boolean {
    return this.state.steps === 0;
  }

  /** False after the delay in which the cap was reached: that one is slept for nothing, as in Go. */
  mayAsk(): boolean {
    if (this.over) return false;
    this.#made++;
    return true;
  }

  backoff(): Timer {
    if (this.state.steps <= 1) throw new ExhaustedError(this.#made);
    return this.#timer.arm(this.step());
  }
}
