import { type Clock, realClock, type Timer } from "@holdfast/clock";
import {
  abortSignal,
  func,
  type Kinds,
  loopClock,
  parsed,
  read,
  required,
  requireFunction,
} from "@holdfast/kit";
import type { BackoffOptions } from "../delay/backoff-options.ts";
import { Growth, growthState } from "../delay/growth.ts";
import { type BackoffManager, ReusedTimer } from "../loop/backoff-manager.ts";
import { conditionLoop } from "./condition-loop.ts";
import type { Condition, ConditionOptions } from "./condition-options.ts";
import { ExhaustedError } from "./exhausted-error.ts";

export const EXPONENTIAL_BACKOFF_OPTIONS: Kinds<ExponentialBackoffOptions> = {
  backoff: required(parsed("backoffOptions")),
  signal: abortSignal,
  onError: func,
  clock: loopClock,
};

/** Options for {@link exponentialBackoff}. */
export interface ExponentialBackoffOptions extends ConditionOptions {
  /** The delays. `steps` is also the maximum number of calls; by default `Infinity`. */
  readonly backoff: BackoffOptions;
}

/**
 * Calls `condition` at most `steps` times, with growing delays between the calls, until it returns
 * true.
 *
 * | Event | Result |
 * | --- | --- |
 * | `condition` returns true | resolves |
 * | `condition` throws or rejects, with `onError` | calls `onError` with the error, continues as after false |
 * | `condition` throws or rejects, without `onError` | rejects with the error unchanged |
 * | the last call does not return true | rejects with an {@link ExhaustedError}, without another delay |
 * | the delay reaches its `cap` | waits for the previous delay, then rejects with an `ExhaustedError` |
 * | `signal` is already aborted | rejects with `signal.reason`; `condition` is not called |
 * | `signal` aborts during a delay | stops the timer and rejects with `signal.reason` at once |
 * | `signal` aborts during a call | waits for the call; unless it returns true, rejects with `signal.reason`, or with an `ExhaustedError` if the last call returns false |
 *
 * `condition` receives `signal` itself. Remove listeners that it adds to it: they stay until the signal
 * is garbage collected.
 *
 * @param condition - the condition; receives the signal and should settle soon after it aborts
 * @param options - see {@link ExponentialBackoffOptions}
 * @returns a promise that resolves when the condition is true; bad arguments reject it with a
 * RangeError or TypeError. When it settles, no timer and no listener remain
 *
 * @remarks
 * Three surprises are kept from Go. `cap` ends the attempts: no delay and no call follow the delay
 * that reaches it, and the last delay is wasted (kubernetes/kubernetes#131122). With `steps: 0` the
 * condition is never called, and the wait rejects with an `ExhaustedError` even if its signal has
 * aborted. An abort during the last call also rejects with an `ExhaustedError` if that call returns
 * false. To continue at the cap, use {@link delayUntil} with a timeout, or `retry` for work that fails.
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
  const given = read("options", options, "exponentialBackoff", EXPONENTIAL_BACKOFF_OPTIONS);
  const { backoff, clock = realClock, onError } = given;
  const { signal = new AbortController().signal } = given;
  requireFunction("condition", condition);
  const attempts = new Attempts(backoff, clock);
  const ask: Condition = (own) => attempts.mayAsk() && condition(own);
  await conditionLoop({ condition: ask, manager: attempts, signal, onError });
}

/** Counts the calls, and decides whether another delay follows. */
export class Attempts extends Growth implements BackoffManager {
  readonly #timer: ReusedTimer;
  #made = 0;

  /** @throws ExhaustedError if not even one call is allowed */
  constructor(options: BackoffOptions, clock: Clock) {
    super(growthState("options.backoff", options));
    this.#timer = new ReusedTimer(clock);
    if (this.over) throw new ExhaustedError(0);
  }

  /** Whether there is no step left. */
  get over(): boolean {
    return this.state.steps === 0;
  }

  /** False after the delay that reached the cap: as in Go, no call follows it. */
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
