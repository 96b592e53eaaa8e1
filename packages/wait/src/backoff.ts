import type { PassiveClock } from "@holdfast/clock";
import {
  requireAbove,
  requireAtLeast,
  requireBoolean,
  requireFinite,
  requireFunction,
  requireMethods,
  requireOptions,
  requireWhole,
} from "@holdfast/clock/internal";
import type { BackoffStrategy, DelayFunc } from "./backoff-strategy.ts";
import { spread } from "./jitter.ts";
import {
  LONGEST_NANOSECONDS,
  NANOSECONDS_PER_MILLISECOND,
  toMilliseconds,
  toNanoseconds,
  toNanosecondsWithin,
} from "./nanoseconds.ts";
import { defaultRandom, type Random } from "./random.ts";

/** A copy, because V8 folds a constant of this module into the code, but looks an imported one up. */
const PER_MILLISECOND = NANOSECONDS_PER_MILLISECOND;

/**
 * The shape of a growing delay: where it starts, how it grows and where growth ends.
 *
 * Delay number `n`, counted from 0, is
 *
 * ```text
 * base(0)     = duration
 * base(n + 1) = min(base(n) × factor, cap)       n stops rising after `steps` growths
 * delay(n)    = base(n) × (1 + jitter × random())  random() is in [0, 1)
 * ```
 *
 * | `n` | `{ duration: 100, factor: 2, cap: 1000 }` | the same with `jitter: 0.5` |
 * | --- | ----------------------------------------- | --------------------------- |
 * | 0   | 100                                       | 100 to 150                  |
 * | 1   | 200                                       | 200 to 300                  |
 * | 2   | 400                                       | 400 to 600                  |
 * | 3   | 800                                       | 800 to 1200                 |
 * | 4 … | 1000                                      | 1000 to 1500                |
 *
 * Every result is a whole number of nanoseconds, cut off as in Go, and at most 2^63 ns.
 */
export interface BackoffOptions {
  /**
   * The first delay, in milliseconds. Finite, at least 0. `cap` does not limit it without
   * `capAfterJitter`.
   */
  readonly duration: number;

  /**
   * What a delay is multiplied by to get the next. Finite, above 0; below 1 the delays shrink.
   *
   * @defaultValue none: the delay is constant and `cap` has no effect
   */
  readonly factor?: number | undefined;

  /**
   * The largest share of a delay that may be added to it at random. Finite, at least 0; `0.2` adds
   * up to 20 %. Drawn anew for each delay; never accumulates.
   *
   * @defaultValue `0`, no randomness
   */
  readonly jitter?: number | undefined;

  /**
   * How many times the delay may grow. A whole number, at least 0, or `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly steps?: number | undefined;

  /**
   * The delay at which growth ends, in milliseconds, before jitter unless `capAfterJitter` is set.
   * Above 0, or `Infinity`.
   *
   * @defaultValue `Infinity`
   */
  readonly cap?: number | undefined;

  /**
   * Whether `cap` limits every delay with its jitter, the first delay included.
   *
   * Growth then ends at `cap / (1 + jitter)`, so that the last delays are still spread, from there
   * to the cap. Cutting them off at the cap would make them all equal.
   *
   * @defaultValue `false`, as in Kubernetes
   */
  readonly capAfterJitter?: boolean | undefined;

  /**
   * Draws the jitter.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

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
export class Backoff implements BackoffStrategy {
  // Each begins as a number: one that begins as `undefined` is never stored as a bare number, so that
  // every change of it allocates and a step costs twice as much. In nanoseconds where a duration.
  #base = 0;
  #growths = 0;
  #multiplier = 1;
  #limit = 0;
  #share = 0;
  #most = LONGEST_NANOSECONDS;
  #random: Random = defaultRandom;

  /**
   * @param options - see {@link BackoffOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: BackoffOptions) {
    requireOptions("options", options);
    const {
      duration,
      factor,
      jitter = 0,
      steps = Number.POSITIVE_INFINITY,
      cap = Number.POSITIVE_INFINITY,
      capAfterJitter = false,
      random = defaultRandom,
    } = options;
    requireAtLeast("options.duration", duration, 0);
    if (factor !== undefined) requireFactor(factor);
    requireAtLeast("options.jitter", jitter, 0);
    requireWhole("options.steps", steps, 0);
    requireAbove("options.cap", cap, 0);
    requireBoolean("options.capAfterJitter", capAfterJitter);
    requireFunction("options.random", random);
    this.#base = toNanoseconds(duration);
    this.#growths = steps;
    this.#multiplier = factor ?? 1;
    this.#limit = factor === undefined ? this.#base : toNanoseconds(cap);
    this.#share = jitter;
    this.#random = random;
    if (capAfterJitter) this.#capWithJitter(toNanosecondsWithin(cap));
  }

  /** The next delay without its jitter, in milliseconds. */
  get duration(): number {
    return toMilliseconds(this.#base);
  }

  /** How many times the delay may still grow. */
  get steps(): number {
    return this.#growths;
  }

  /**
   * Returns the next delay and grows the one after it.
   *
   * @returns milliseconds
   */
  step(): number {
    const base = this.#base;
    if (this.#growths > 0) this.#grow(base);
    return (
      (this.#share > 0 ? spread(base, this.#share, this.#random, this.#most) : base) /
      PER_MILLISECOND
    );
  }

  /**
   * A sequence of delays of its own, from where this back-off stands. Stepping one does not move
   * the other.
   *
   * @returns a function that returns milliseconds
   */
  delayFunc(): DelayFunc {
    const copy = this.#copy();
    return () => copy.step();
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
    const copy = this.#copy();
    if (resetInterval === 0) copy.#growths = 0;
    const base = copy.#base;
    const growths = copy.#growths;
    // In nanoseconds: of two instants as doubles, the difference is off in its last digits.
    const longest = toNanoseconds(resetInterval);
    let start = clock.monotonic();
    return () => {
      const now = clock.monotonic();
      if (toNanoseconds(now - start) > longest) {
        copy.#base = base;
        copy.#growths = growths;
        start = now;
      }
      return copy.step();
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

  #grow(base: number): void {
    const next = Math.floor(base * this.#multiplier);
    if (next > this.#limit) {
      this.#base = this.#limit;
      this.#growths = 0;
    } else {
      this.#base = next;
      this.#growths--;
    }
  }

  #capWithJitter(most: number): void {
    const limit = Math.floor(most / (1 + this.#share));
    this.#base = Math.min(this.#base, limit);
    this.#limit = Math.min(this.#limit, limit);
    this.#most = most;
  }

  #copy(): Backoff {
    const copy = new Backoff({ duration: 0, jitter: this.#share, random: this.#random });
    copy.#base = this.#base;
    copy.#growths = this.#growths;
    copy.#multiplier = this.#multiplier;
    copy.#limit = this.#limit;
    copy.#most = this.#most;
    return copy;
  }
}

function requireFactor(factor: number): void {
  requireAbove("options.factor", factor, 0);
  requireFinite("options.factor", factor);
}
