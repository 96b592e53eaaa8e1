import type { PassiveClock } from "@holdfast/clock";
import { requireAtLeast, requireMethods, requireOptions } from "@holdfast/clock/internal";
import type { BackoffOptions } from "./backoff-options.ts";
import type { BackoffStrategy, DelayFunc } from "./backoff-strategy.ts";
import { delaysFrom, Growth, growthState } from "./growth.ts";
import { toMilliseconds, toNanoseconds } from "./nanoseconds.ts";

/**
 * A delay that grows each time it is asked for.
 *
 * Call {@link Backoff.step} where one loop owns the object. Give the object to a loop of this
 * package, or take a {@link Backoff.delayFunc}, where several share it: they do not disturb each
 * other.
 *
 * @remarks
 * As in Kubernetes, `cap` limits neither the first delay nor what jitter adds: a delay can reach
 * `cap × (1 + jitter)`; `capAfterJitter` is for those who want neither. When growth reaches the cap,
 * `steps` becomes 0. Unlike there, a delay never overflows into a negative one.
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
    requireOptions("options", options);
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
   * A sequence of delays of its own, from where this back-off stands. Stepping one does not move
   * the other.
   *
   * @returns a function that returns milliseconds
   */
  delayFunc(): DelayFunc {
    return delaysFrom(this.state);
  }

  /**
   * A sequence of delays that starts over whenever more than `resetInterval` has passed since it
   * last did so.
   *
   * The interval counts from this call and then from reset to reset, however busy the caller is: a
   * loop that fails all the time starts over, too. {@link ExponentialBackoffManager} starts over
   * only after a pause. With an interval of 0 the delay does not grow at all.
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
    // In nanoseconds: of two instants as doubles, the difference is off in its last digits.
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
   * The delays of a fresh {@link Backoff.delayFunc}, without end: leave with `break`.
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
