import { type Clock, realClock, type Timer } from "@holdfast/clock";
import { finiteFrom, func, type Kinds, loopClock, required } from "@holdfast/kit";
import { Backoff } from "../delay/backoff.ts";
import type { DelayFunc } from "../delay/backoff-strategy.ts";
import { type JitterForm, jitterForm } from "../delay/capped-jitter.ts";
import type { Random } from "../delay/random.ts";
import { readShape } from "../delay/shape-options.ts";
import { type BackoffManager, ReusedTimer } from "./backoff-manager.ts";

export const JITTERED_BACKOFF_MANAGER_OPTIONS: Kinds<JitteredBackoffManagerOptions> = {
  duration: required(finiteFrom(0)),
  jitter: jitterForm,
  clock: loopClock,
  random: func,
};

/** Options for {@link JitteredBackoffManager}. */
export interface JitteredBackoffManagerOptions {
  /** Delay before jitter, in milliseconds. Finite, at least 0. */
  readonly duration: number;

  /**
   * Randomness of a delay: the maximum share to add, `"full"` or `"equal"`; see
   * {@link JitterForm}.
   *
   * @defaultValue `0`, no randomness
   */
  readonly jitter?: JitterForm | undefined;

  /**
   * Measures the delays.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Source of randomness.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/**
 * A constant delay with new jitter each time.
 *
 * Source: `NewJitteredBackoffManager` of k8s.io/apimachinery/pkg/util/wait.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { JitteredBackoffManager } from "@holdfast/wait";
 *
 * const clock = new FakeClock();
 * const manager = new JitteredBackoffManager({
 *   duration: 1_000, jitter: 0.2, clock, random: () => 0.5,
 * });
 * console.log(manager.backoff().deadline - clock.monotonic()); // => 1100
 * ```
 */
export class JitteredBackoffManager implements BackoffManager {
  readonly #timer: ReusedTimer;
  readonly #next: DelayFunc;

  /**
   * @param options - see {@link JitteredBackoffManagerOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: JitteredBackoffManagerOptions) {
    const {
      duration,
      jitter,
      random,
      clock = realClock,
    } = readShape("options", options, "JitteredBackoffManager", JITTERED_BACKOFF_MANAGER_OPTIONS);
    this.#timer = new ReusedTimer(clock);
    this.#next = new Backoff({ duration, jitter, random }).delayFunc();
  }

  /** {@inheritDoc BackoffManager.backoff} */
  backoff(): Timer {
    return this.#timer.arm(this.#next());
  }
}
