import { type Clock, realClock, type Timer } from "@holdfast/clock";
import {
  above,
  finiteFrom,
  func,
  type Kinds,
  loopClock,
  notNegative,
  positive,
  required,
} from "@holdfast/kit";
import { Backoff } from "../delay/backoff.ts";
import type { DelayFunc } from "../delay/backoff-strategy.ts";
import { type JitterForm, jitterForm } from "../delay/capped-jitter.ts";
import { toNanoseconds } from "../delay/nanoseconds.ts";
import type { Random } from "../delay/random.ts";
import { readShape } from "../delay/shape-options.ts";
import { type BackoffManager, ReusedTimer } from "./backoff-manager.ts";

export const EXPONENTIAL_BACKOFF_MANAGER_OPTIONS: Kinds<ExponentialBackoffManagerOptions> = {
  duration: required(finiteFrom(0)),
  factor: required(positive),
  cap: above(0),
  jitter: jitterForm,
  resetAfter: notNegative,
  clock: loopClock,
  random: func,
};

/** Options for {@link ExponentialBackoffManager}. */
export interface ExponentialBackoffManagerOptions {
  /**
   * First delay in milliseconds. Finite, at least 0. Not limited by `cap`, except with `"full"` and
   * `"equal"` jitter.
   */
  readonly duration: number;

  /** Growth of the delay: each delay is `factor` times the previous one. Finite, above 0. */
  readonly factor: number;

  /**
   * Delay at which growth ends, in milliseconds, before jitter. Above 0, or `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly cap?: number | undefined;

  /**
   * Randomness of a delay: the maximum share to add, `"full"` or `"equal"`; see
   * {@link JitterForm}.
   *
   * @defaultValue `0`, no randomness
   */
  readonly jitter?: JitterForm | undefined;

  /**
   * Pause between two calls of `backoff()` after which the delays start over, in milliseconds. At
   * least 0, or `Infinity`.
   *
   * @defaultValue `Infinity`: never
   */
  readonly resetAfter?: number | undefined;

  /**
   * Measures delays and pauses.
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
 * Delays that grow while a loop keeps failing, and start over after a long run without failure.
 *
 * The delays start over when the pause between two calls of {@link ExponentialBackoffManager.backoff}
 * exceeds `resetAfter`. The result of a run does not matter.
 *
 * @remarks
 * The pause runs from call to call, so it includes the delay itself. A delay longer than `resetAfter`
 * therefore resets the delays: with `{ duration: 1000, factor: 2, cap: 30_000, resetAfter: 5_000 }`
 * they are 1, 2, 4, 8, 1, 2 … s and never reach the cap. Choose a `resetAfter` above
 * `cap × (1 + jitter)`; twice the cap is usual.
 *
 * Source: `NewExponentialBackoffManager` of k8s.io/apimachinery/pkg/util/wait.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { ExponentialBackoffManager } from "@holdfast/wait";
 *
 * const clock = new FakeClock();
 * const manager = new ExponentialBackoffManager({
 *   duration: 1_000, factor: 2, cap: 8_000, resetAfter: 60_000, clock,
 * });
 * const next = () => manager.backoff().deadline - clock.monotonic();
 * console.log(next(), next(), next(), next(), next()); // => 1000 2000 4000 8000 8000
 * await clock.step(60_001);
 * console.log(next()); // => 1000
 * ```
 */
export class ExponentialBackoffManager implements BackoffManager {
  readonly #clock: Clock;
  readonly #timer: ReusedTimer;
  readonly #backoff: Backoff;
  /** In whole nanoseconds, because the difference of two instants has a rounding error. */
  readonly #longestPause: number;
  #next: DelayFunc;
  #lastCall: number;

  /**
   * @param options - see {@link ExponentialBackoffManagerOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: ExponentialBackoffManagerOptions) {
    const given = readShape(
      "options",
      options,
      "ExponentialBackoffManager",
      EXPONENTIAL_BACKOFF_MANAGER_OPTIONS,
    );
    const { duration, factor, cap, jitter, random, clock = realClock } = given;
    const { resetAfter = Number.POSITIVE_INFINITY } = given;
    this.#timer = new ReusedTimer(clock);
    this.#clock = clock;
    this.#backoff = new Backoff({ duration, factor, cap, jitter, random });
    this.#longestPause = toNanoseconds(resetAfter);
    this.#next = this.#backoff.delayFunc();
    this.#lastCall = clock.monotonic();
  }

  /** {@inheritDoc BackoffManager.backoff} */
  backoff(): Timer {
    const now = this.#clock.monotonic();
    const pause = toNanoseconds(now - this.#lastCall);
    if (pause > this.#longestPause) this.#next = this.#backoff.delayFunc();
    this.#lastCall = now;
    return this.#timer.arm(this.#next());
  }
}
