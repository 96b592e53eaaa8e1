import { type PassiveClock, realClock } from "@holdfast/clock";
import {
  requireAtLeast,
  requireFunction,
  requireInstant,
  requireMethods,
  requireNotNegative,
  requireOptions,
  requirePositive,
} from "@holdfast/clock/internal";
import { spread } from "../delay/jitter.ts";
import { LONGEST_NANOSECONDS, toMilliseconds, toNanoseconds } from "../delay/nanoseconds.ts";
import { defaultRandom, type Random } from "../delay/random.ts";

/** The delays of a {@link KeyedBackoff}. */
export interface KeyedBackoffOptions {
  /** The first delay of a key, in milliseconds. Finite, at least 0. It is not limited by `cap`. */
  readonly duration: number;

  /** What no later delay of a key exceeds, in milliseconds. Finite, above 0. */
  readonly cap: number;

  /**
   * The largest share of a delay that may be added to it at random. Finite, at least 0. What was
   * added is doubled with the rest the next time.
   *
   * @defaultValue `0`, no randomness
   */
  readonly jitter?: number | undefined;

  /**
   * For how long a key without a {@link KeyedBackoff.next} is remembered, in milliseconds. At least
   * 0, or `Infinity`: then nothing is forgotten until it is reset.
   *
   * @defaultValue twice the `cap`
   */
  readonly resetAfter?: number | undefined;

  /**
   * Tells when a delay was set, and what time it is.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: PassiveClock | undefined;

  /**
   * Draws the jitter.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/** The delay of one key and when it was set. */
interface Entry {
  nanoseconds: number;
  updatedAt: number;
}

/** Below so many keys there is nothing worth collecting. */
const FEW = 1_024;

/**
 * A delay for each of many keys, which doubles whenever its key fails again: one image that cannot
 * be pulled does not hold up the others.
 *
 * It waits for nothing and calls nothing: {@link KeyedBackoff.next} after a failure,
 * {@link KeyedBackoff.isInBackoffSinceUpdate} before the next try, {@link KeyedBackoff.reset} after
 * a success. A key that has not failed for longer than `resetAfter` starts over and is forgotten.
 *
 * | Delay of a key | is |
 * | --- | --- |
 * | before its first `next` | 0 |
 * | after its first `next`, or one more than `resetAfter` after the last | `duration`, plus jitter |
 * | after any other | `min(2 × delay + jitter, cap)` |
 *
 * @typeParam Key - what delays are kept for; compared as a `Map` compares its keys
 *
 * @remarks
 * As in Kubernetes, the cap does not limit the first delay, and jitter accumulates, because it is
 * doubled with the delay. Unlike there, keys that are out of date are also collected without a call
 * of {@link KeyedBackoff.gc}, each time their number has doubled since they last were: there are never
 * more than twice as many entries as keys were in use then, or 1,024. And a delay never overflows into a negative one.
 *
 * Source: `Backoff` of k8s.io/client-go/util/flowcontrol, equal to the nanosecond.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { KeyedBackoff } from "@holdfast/wait/go";
 *
 * const clock = new FakeClock();
 * const pulls = new KeyedBackoff({ duration: 10_000, cap: 300_000, clock });
 * console.log(pulls.next("nginx:latst"), pulls.next("nginx:latst")); // => 10000 20000
 * console.log(pulls.isInBackoffSinceUpdate("nginx:latst")); // => true
 * console.log(pulls.isInBackoffSinceUpdate("redis:7")); // => false
 *
 * await clock.step(20_000);
 * console.log(pulls.isInBackoffSinceUpdate("nginx:latst")); // => false
 * ```
 */
export class KeyedBackoff<Key = string> {
  readonly #entries = new Map<Key, Entry>();
  readonly #clock: PassiveClock;
  readonly #random: Random;
  readonly #share: number;
  // In nanoseconds.
  readonly #duration: number;
  readonly #cap: number;
  readonly #resetAfter: number;
  /** The number of entries at which out of date ones are looked for. */
  #crowd = FEW;

  /**
   * @param options - see {@link KeyedBackoffOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: KeyedBackoffOptions) {
    requireOptions("options", options);
    const { duration, cap, jitter = 0, clock = realClock, random = defaultRandom } = options;
    requireAtLeast("options.duration", duration, 0);
    requirePositive("options.cap", cap);
    requireAtLeast("options.jitter", jitter, 0);
    const { resetAfter = 2 * cap } = options;
    requireNotNegative("options.resetAfter", resetAfter);
    requireMethods("options.clock", clock, ["monotonic"]);
    requireFunction("options.random", random);
    this.#clock = clock;
    this.#random = random;
    this.#share = jitter;
    this.#duration = toNanoseconds(duration);
    this.#cap = toNanoseconds(cap);
    this.#resetAfter = toNanoseconds(resetAfter);
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * The delay of a key, over or not.
   *
   * @param key - any key
   * @returns milliseconds; 0 for a key that is not remembered
   */
  get(key: Key): number {
    return toMilliseconds(this.#entries.get(key)?.nanoseconds ?? 0);
  }

  /**
   * Sets the delay of a key after a failure, counting from now.
   *
   * @param key - what has failed
   * @param at - when it has failed: a `monotonic()` instant of the clock, by default now. It only
   * decides whether the delay of before is out of date
   * @returns the delay, in milliseconds
   * @throws RangeError or TypeError if `at` is no instant
   */
  next(key: Key, at: number = this.#clock.monotonic()): number {
    requireInstant("at", at);
    const entry = this.#entries.get(key);
    const nanoseconds =
      entry === undefined || this.#hasExpired(entry, at)
        ? this.#jittered(this.#duration)
        : Math.min(entry.nanoseconds + this.#jittered(entry.nanoseconds), this.#cap);
    this.#set(key, entry, nanoseconds);
    return toMilliseconds(nanoseconds);
  }

  /**
   * Forgets a key: its next delay is the first again.
   *
   * @param key - what has succeeded, or is gone
   */
  reset(key: Key): void {
    this.#entries.delete(key);
  }

  /**
   * Whether less than the delay of a key has passed since an instant.
   *
   * @param key - any key
   * @param at - what to count from: a `monotonic()` instant of the clock
   * @returns false, too, if the delay was out of date at that instant
   * @throws RangeError or TypeError if `at` is no instant
   *
   * @example
   * ```ts
   * import { FakeClock } from "@holdfast/clock/testing";
   * import { KeyedBackoff } from "@holdfast/wait/go";
   *
   * const clock = new FakeClock();
   * const restarts = new KeyedBackoff({ duration: 10_000, cap: 300_000, clock });
   * restarts.next("web");
   * await clock.step(60_000);
   * const exited = clock.monotonic();
   * await clock.step(9_999);
   * console.log(restarts.isInBackoffSince("web", exited)); // => true
   * await clock.step(1);
   * console.log(restarts.isInBackoffSince("web", exited)); // => false
   * ```
   */
  isInBackoffSince(key: Key, at: number): boolean {
    requireInstant("at", at);
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#hasExpired(entry, at)) return false;
    return toNanoseconds(this.#clock.monotonic() - at) < entry.nanoseconds;
  }

  /**
   * Whether a key is in its delay at an instant, counting from when the delay was set.
   *
   * @param key - any key
   * @param at - a `monotonic()` instant of the clock, by default now
   * @returns false, too, if the delay was out of date at that instant
   * @throws RangeError or TypeError if `at` is no instant
   */
  isInBackoffSinceUpdate(key: Key, at: number = this.#clock.monotonic()): boolean {
    requireInstant("at", at);
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#hasExpired(entry, at)) return false;
    return toNanoseconds(at - entry.updatedAt) < entry.nanoseconds;
  }

  /**
   * Forgets every key that is out of date now. Memory is bounded without it; call it where an idle
   * program should hold as little as possible. Costs a look at each key.
   */
  gc(): void {
    const now = this.#clock.monotonic();
    for (const [key, entry] of this.#entries)
      if (this.#hasExpired(entry, now)) this.#entries.delete(key);
    this.#crowd = Math.max(2 * this.#entries.size, FEW);
  }

  #set(key: Key, entry: Entry | undefined, nanoseconds: number): void {
    const updatedAt = this.#clock.monotonic();
    if (entry === undefined) {
      if (this.#entries.size >= this.#crowd) this.gc();
      this.#entries.set(key, { nanoseconds, updatedAt });
    } else {
      entry.nanoseconds = nanoseconds;
      entry.updatedAt = updatedAt;
    }
  }

  #jittered(nanoseconds: number): number {
    if (this.#share === 0) return nanoseconds;
    return spread(nanoseconds, this.#share, this.#random, LONGEST_NANOSECONDS);
  }

  /** Strictly longer, as in Go. */
  #hasExpired({ updatedAt }: Entry, at: number): boolean {
    return toNanoseconds(at - updatedAt) > this.#resetAfter;
  }
}
