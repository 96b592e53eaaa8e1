import type { PassiveClock } from "@holdfast/clock";
import { requireAtLeast, requireMethods } from "@holdfast/kit";
import type { BackoffOptions } from "./backoff-options.ts";
import type { BackoffStrategy, DelayFunc } from "./backoff-strategy.ts";
import { delaysFrom, Growth, growthState } from "./growth.ts";
import { toMilliseconds, toNanoseconds } from "./nanoseconds.ts";

/**
 * A growing delay: each call of {@link Backoff.step} returns the next one.
 *
 * `step` advances the object itself. {@link Backoff.delayFunc}, which every loop of this package
 * calls, starts an independent sequence, so several loops can share one object.
 *
 * @remarks
 * As in Kubernetes, `cap` limits neither the first delay nor the jitter added to a delay: a delay can
 * reach `cap × (1 + jitter)`. `capAfterJitter` limits both. When growth reaches the cap, `steps`
 * becomes 0. Unlike in Kubernetes, a delay never overflows into a negative one.
 *
 * Source: `Backoff` of k8s.io/apimachinery/pkg/util/wait, equal to the nanosecond.
 *
 * @example
 * ```ts
 * import { Backoff } from "@holdfast/wait";
 *
 * const backoff = new Backoff({ duration: 250, factor: 2, cap: 1_500 });
 * console.log(backoff.step(), backoff.step(), backoff.step()); // => 250 500 1000
 * console.log(backoff.step(), backoff.step()); // => 1500 1500
 * ```
 */
export class Backoff extends Growth implements BackoffStrategy {
  /**
   * @param options - see {@link BackoffOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: BackoffOptions & { readonly delayFunc?: never }) {
    super(growthState("options", options));
  }

  /** The next delay without its jitter, in milliseconds. */
  get duration(): number {
    return toMilliseconds(this.state.base);
  }

  /** How many times the delay may still grow. */
  get steps(): number {
    return this.state.steps;
  }

  /**
   * Starts an independent sequence of delays at the current delay of this object.
   *
   * @returns a function that returns milliseconds
   */
  delayFunc(): DelayFunc {
    return delaysFrom(this.state);
  }

  /**
   * Starts an independent sequence of delays that starts over periodically, when more than
   * `resetInterval` has passed since the last start.
   *
   * The interval counts from this call, then from reset to reset, so a loop that fails all the time
   * starts over too. {@link ExponentialBackoffManager} starts over only after a pause. With an
   * interval of 0 the delay does not grow.
   *
   * @param clock - measures the interval
   * @param resetInterval - milliseconds, finite, at least 0
   * @returns a function that returns milliseconds
   * @throws RangeError or TypeError if an argument is out of its range
   *
   * Source: `DelayWithReset` of k8s.io/apimachinery/pkg/util/wait.
   *
   * @example
   * ```ts
   * import { FakeClock } from "@holdfast/clock/testing";
   * import { Backoff } from "@holdfast/wait";
   *
   * const clock = new FakeClock();
   * const next = new Backoff({ duration: 100, factor: 2 }).delayWithReset(clock, 60_000);
   * console.log(next(), next(), next()); // => 100 200 400
   * await clock.step(60_001);
   * console.log(next(), next()); // => 100 200
   * ```
   */
  delayWithReset(clock: PassiveClock, resetInterval: number): DelayFunc {
    requireMethods("clock", clock, ["monotonic"]);
    requireAtLeast("resetInterval", resetInterval, 0);
    const first = resetInterval === 0 ? { ...this.state, steps: 0 } : this.state;
    // In whole nanoseconds, because the difference of two instants has a rounding error.
    const longest = toNanoseconds(resetInterval);
    let next = delaysFrom(first);
    let start = clock.monotonic();
    return () => {
      const now = clock.monotonic();
      if (toNanoseconds(now - start) > longest) {
        next = delaysFrom(first);
        start = now;
      }
      return next();
    };
  }

  /**
   * Iterates over the delays of a new {@link Backoff.delayFunc}. The iterator has no end: leave the
   * loop with `break`.
   *
   * @returns an iterator over milliseconds
   *
   * @example
   * ```ts
   * import { Backoff } from "@holdfast/wait";
   *
   * let total = 0;
   * for (const delay of new Backoff({ duration: 100, factor: 2 })) {
   *   if (total + delay > 1_000) break;
   *   total += delay;
   * }
   * console.log(total); // => 700
   * ```
   */
  *[Symbol.iterator](): Generator<number, never, undefined> {
    const next = this.delayFunc();
    for (;;) yield next();
  }
}
