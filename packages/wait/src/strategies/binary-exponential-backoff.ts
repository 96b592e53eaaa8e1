import {
  requireAtLeast,
  requireFunction,
  requireOptions,
  requireWhole,
} from "@holdfast/clock/internal";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import { LONGEST_NANOSECONDS, toMilliseconds, toNanoseconds } from "../delay/nanoseconds.ts";
import { defaultRandom, type Random } from "../delay/random.ts";
import { ExcessiveCollisionsError } from "./excessive-collisions-error.ts";

/** The largest power of 2 that a number holds, so that `2 ** WIDEST * 0` is not NaN. */
const WIDEST = 1023;

/**
 * The numbers of a {@link BinaryExponentialBackoff}. Their names are those of the standard.
 *
 * After collision number `n`, counted from 1, the delay is a whole number of slots:
 *
 * ```text
 * k     = min(n, backoffLimit)
 * delay = slotTime × r            r is one of 0, 1, … 2^k - 1, each as likely as the others
 * ```
 *
 * | Collision | Slots, with the default limits |
 * | --- | --- |
 * | 1 | 0 or 1 |
 * | 2 | 0 to 3 |
 * | 3 | 0 to 7 |
 * | 10 to 15 | 0 to 1023 |
 * | 16 | none: an {@link ExcessiveCollisionsError} |
 */
export interface BinaryExponentialBackoffOptions {
  /**
   * What delays are multiples of, in milliseconds. Finite, at least 0. Choose what it takes until
   * every station can know of a collision: a round trip.
   */
  readonly slotTime: number;

  /**
   * The collision after which the range of delays no longer doubles. A whole number, at least 0, or
   * `Infinity`.
   *
   * @defaultValue `10`
   */
  readonly backoffLimit?: number | undefined;

  /**
   * How many attempts may collide; the last of these collisions is a failure. A whole number, at
   * least 1, or `Infinity` where the caller counts.
   *
   * @defaultValue `16`
   */
  readonly attemptLimit?: number | undefined;

  /**
   * Draws the number of slots.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/**
 * Truncated binary exponential back-off, as stations on a shared medium use it: after each
 * collision wait a random number of slots out of a range that doubles.
 *
 * Call {@link BinaryExponentialBackoff.collision} and {@link BinaryExponentialBackoff.reset} where
 * you have the attempts in hand. Give the object to a loop of this package where that does: when
 * the attempts are used up, the delay function throws, and the loop ends with that error. For a
 * loop with a limit of its own, set `attemptLimit` to `Infinity`.
 *
 * Mean delays are in {@link expectedSlots}. The first delay is 0 half of the time: this is made for
 * few stations and short slots. For clients of a service take {@link FullJitterBackoff}.
 *
 * Source: IEEE Std 802.3, clause 4.2.3.2.5: slotTime, attemptLimit 16, backoffLimit 10.
 *
 * @example
 * ```ts
 * import { seededRandom } from "@holdfast/wait";
 * import { BinaryExponentialBackoff, isExcessiveCollisionsError } from "@holdfast/wait/strategies";
 *
 * // 51.2 µs: 512 bit times of a 10 Mbit/s Ethernet
 * const backoff = new BinaryExponentialBackoff({ slotTime: 0.0512, random: seededRandom(5) });
 * const slots = () => Math.round(backoff.collision() / 0.0512);
 * console.log(slots(), slots(), slots()); // => 0 1 7
 * backoff.reset(); // sent
 *
 * for (let collisions = 1; collisions < 16; collisions++) backoff.collision();
 * try {
 *   backoff.collision();
 * } catch (error) {
 *   console.log(isExcessiveCollisionsError(error), backoff.collisions); // => true 16
 * }
 * ```
 */
export class BinaryExponentialBackoff implements BackoffStrategy {
  readonly #options: BinaryExponentialBackoffOptions;
  readonly #slot: number;
  readonly #backoffLimit: number;
  readonly #attemptLimit: number;
  readonly #random: Random;
  #collisions = 0;

  /**
   * @param options - see {@link BinaryExponentialBackoffOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: BinaryExponentialBackoffOptions) {
    requireOptions("options", options);
    const { slotTime, backoffLimit = 10, attemptLimit = 16, random = defaultRandom } = options;
    requireAtLeast("options.slotTime", slotTime, 0);
    requireWhole("options.backoffLimit", backoffLimit, 0);
    requireWhole("options.attemptLimit", attemptLimit, 1);
    requireFunction("options.random", random);
    this.#options = { slotTime, backoffLimit, attemptLimit, random };
    this.#slot = toNanoseconds(slotTime);
    this.#backoffLimit = Math.min(backoffLimit, WIDEST);
    this.#attemptLimit = attemptLimit;
    this.#random = random;
  }

  /** How many collisions there were since the last success. */
  get collisions(): number {
    return this.#collisions;
  }

  /**
   * Counts a collision.
   *
   * @returns how long to wait before the next attempt, in milliseconds
   * @throws ExcessiveCollisionsError if that was the last attempt, and again until
   * {@link BinaryExponentialBackoff.reset}
   */
  collision(): number {
    if (this.#collisions < this.#attemptLimit) this.#collisions++;
    if (this.#collisions === this.#attemptLimit)
      throw new ExcessiveCollisionsError(this.#attemptLimit);
    const range = 2 ** Math.min(this.#collisions, this.#backoffLimit);
    const slots = Math.floor(this.#random() * range);
    return toMilliseconds(Math.min(slots * this.#slot, LONGEST_NANOSECONDS));
  }

  /** Forgets the collisions: the attempt has succeeded, or its failure has been reported. */
  reset(): void {
    this.#collisions = 0;
  }

  /**
   * The delays after the first collision, the second and so on, whatever this object has counted.
   *
   * @returns a function that returns milliseconds, and throws an {@link ExcessiveCollisionsError}
   * when the attempts are used up
   */
  delayFunc(): DelayFunc {
    const fresh = new BinaryExponentialBackoff(this.#options);
    return () => fresh.collision();
  }
}
