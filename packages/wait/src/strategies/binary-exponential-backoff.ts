import { findByCode, finiteFrom, func, type Kinds, required, whole } from "@holdfast/kit";
import type { BackoffStrategy, DelayFunc } from "../delay/backoff-strategy.ts";
import { LONGEST_NANOSECONDS, toMilliseconds, toNanoseconds } from "../delay/nanoseconds.ts";
import { defaultRandom, type Random } from "../delay/random.ts";
import { readShape } from "../delay/shape-options.ts";

export const BINARY_EXPONENTIAL_BACKOFF_OPTIONS: Kinds<BinaryExponentialBackoffOptions> = {
  slotTime: required(finiteFrom(0)),
  backoffLimit: whole(0),
  attemptLimit: whole(1),
  random: func,
};

/** Largest finite power of 2, so that `2 ** WIDEST * 0` is not NaN. */
const WIDEST = 1023;

/**
 * Options for {@link BinaryExponentialBackoff}, with the names of the standard.
 *
 * After collision number `n`, from 1, the delay is a whole number of slots:
 *
 * ```text
 * k     = min(n, backoffLimit)
 * delay = slotTime × r            r is drawn evenly from 0, 1, … 2^k - 1
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
   * Unit of the delays, in milliseconds. Finite, at least 0. Choose the round-trip time, after which
   * every station can detect a collision.
   */
  readonly slotTime: number;

  /**
   * Number of the collision after which the range of delays no longer doubles. A whole number, at
   * least 0, or `Infinity`.
   *
   * @defaultValue `10`
   */
  readonly backoffLimit?: number | undefined;

  /**
   * Maximum number of collisions in a row; the last of them throws. A whole number, at least 1, or
   * `Infinity` if the caller counts.
   *
   * @defaultValue `16`
   */
  readonly attemptLimit?: number | undefined;

  /**
   * Source of randomness.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/**
 * Truncated binary exponential backoff for stations on a shared medium: after each collision a random
 * number of slots, from a range that doubles.
 *
 * Call {@link BinaryExponentialBackoff.collision} after each collision and
 * {@link BinaryExponentialBackoff.reset} after a success, or pass the object to a loop of this
 * package. After the last attempt the delay function throws, and the loop rejects with that error. For
 * a loop with its own limit, set `attemptLimit` to `Infinity`.
 *
 * {@link expectedSlots} computes mean delays. The first delay is 0 half of the time: the shape suits
 * few stations and short slots. For clients of a service, use a `Backoff` with `"full"` jitter.
 *
 * Source: IEEE Std 802.3, clause 4.2.3.2.5: slotTime, attemptLimit 16, backoffLimit 10.
 *
 * @example
 * ```ts
 * import { seededRandom } from "@holdfast/wait/strategies";
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
    const {
      slotTime,
      backoffLimit = 10,
      attemptLimit = 16,
      random = defaultRandom,
    } = readShape(
      "options",
      options,
      "BinaryExponentialBackoff",
      BINARY_EXPONENTIAL_BACKOFF_OPTIONS,
    );
    this.#options = { slotTime, backoffLimit, attemptLimit, random };
    this.#slot = toNanoseconds(slotTime);
    this.#backoffLimit = Math.min(backoffLimit, WIDEST);
    this.#attemptLimit = attemptLimit;
    this.#random = random;
  }

  /** Number of collisions since the last {@link BinaryExponentialBackoff.reset}. */
  get collisions(): number {
    return this.#collisions;
  }

  /**
   * Counts a collision and returns the delay before the next attempt.
   *
   * @returns milliseconds
   * @throws ExcessiveCollisionsError after the last attempt, and in each further call until
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

  /** Sets the number of collisions to 0. Call it after a success or a reported failure. */
  reset(): void {
    this.#collisions = 0;
  }

  /**
   * Starts a new sequence at the delay after the first collision.
   *
   * @returns a function that returns milliseconds, and throws an {@link ExcessiveCollisionsError}
   * after the last attempt
   */
  delayFunc(): DelayFunc {
    const fresh = new BinaryExponentialBackoff(this.#options);
    return () => fresh.collision();
  }
}

const CODE = "ERR_WAIT_EXCESSIVE_COLLISIONS";

/**
 * All attempts of a truncated binary exponential backoff have collided.
 *
 * @example
 * ```ts
 * import { ExcessiveCollisionsError, isExcessiveCollisionsError } from "@holdfast/wait/strategies";
 *
 * const error = new ExcessiveCollisionsError(16);
 * console.log(error.message, isExcessiveCollisionsError(error));
 * // => all 16 attempts collided true
 * ```
 */
export class ExcessiveCollisionsError extends Error {
  override readonly name = "ExcessiveCollisionsError";
  /** Stable across versions and copies of this package. */
  readonly code: "ERR_WAIT_EXCESSIVE_COLLISIONS" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_WAIT_EXCESSIVE_COLLISIONS" = CODE;
  /** Number of attempts. */
  readonly attempts: number;

  /** @param attempts - number of attempts */
  constructor(attempts: number) {
    super(`all ${attempts} attempts collided`);
    this.attempts = attempts;
  }
}

/**
 * Whether an error is an {@link ExcessiveCollisionsError}, of this copy of the package or another, or has one among
 * its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 * @returns true if all attempts of a truncated binary exponential backoff collided
 *
 * @example
 * ```ts
 * import { isExcessiveCollisionsError } from "@holdfast/wait/strategies";
 *
 * console.log(isExcessiveCollisionsError(new Error("no"))); // => false
 * ```
 */
export function isExcessiveCollisionsError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}
