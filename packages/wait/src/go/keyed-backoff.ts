import { type PassiveClock, realClock } from "@holdfast/clock";
import {
  finiteFrom,
  func,
  type Kinds,
  methods,
  notNegative,
  positive,
  read,
  required,
  requireInstant,
} from "@holdfast/kit";
import { spread } from "../delay/jitter.ts";
import { LONGEST_NANOSECONDS, toMilliseconds, toNanoseconds } from "../delay/nanoseconds.ts";
import { defaultRandom, type Random } from "../delay/random.ts";

export const KEYED_BACKOFF_OPTIONS: Kinds<KeyedBackoffOptions> = {
  duration: required(finiteFrom(0)),
  cap: required(positive),
  jitter: finiteFrom(0),
  resetAfter: notNegative,
  clock: methods("monotonic"),
  random: func,
};

/** Options for {@link KeyedBackoff}. */
export interface KeyedBackoffOptions {
  /** First delay of a key, in milliseconds. Finite, at least 0. Not limited by `cap`. */
  readonly duration: number;

  /** Maximum of all later delays of a key, in milliseconds. Finite, above 0. */
  readonly cap: number;

  /**
   * Maximum random addition, as a share of a delay. Finite, at least 0. Jitter accumulates: the next
   * delay doubles it too.
   *
   * @defaultValue `0`, no randomness
   */
  readonly jitter?: number | undefined;

  /**
   * Time after the last {@link KeyedBackoff.next} at which a key expires, in milliseconds. At least 0,
   * or `Infinity`: keys then stay until {@link KeyedBackoff.reset}.
   *
   * @defaultValue twice the `cap`
   */
  readonly resetAfter?: number | undefined;

  /**
   * Measures the delays.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: PassiveClock | undefined;

  /**
   * Source of randomness.
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

/** Minimum number of keys before expired ones are collected. */
const FEW = 1_024;

/**
 * A delay for each of many keys, which doubles each time the key fails: one image that cannot be
 * pulled does not delay the others.
 *
 * The object arms no timer. Call {@link KeyedBackoff.next} after a failure,
 * {@link KeyedBackoff.isInBackoffSinceUpdate} before the next attempt and {@link KeyedBackoff.reset}
 * after a success. A key expires `resetAfter` after its last failure and then starts over.
 *
 * | Event | Delay of the key |
 * | --- | --- |
 * | no `next` yet | 0 |
 * | the first `next`, or one after the key has expired | `duration`, plus jitter |
 * | any other `next` | `min(2 × delay + jitter, cap)`, the jitter a share of `delay` |
 *
 * @typeParam Key - type of a key; keys are compared as in a `Map`
 *
 * @remarks
 * As in Kubernetes, the cap does not limit the first delay, and jitter accumulates, because it is
 * doubled with the delay. Unlike in Kubernetes, expired keys are collected without a call of
 * {@link KeyedBackoff.gc}, each time the number of keys has doubled. So there are at most twice as many
 * keys as were unexpired at the last collection, or 1,024. A delay never overflows into a negative one.
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
  /** Number of entries at which expired ones are collected. */
  #collectAt = FEW;

  /**
   * @param options - see {@link KeyedBackoffOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: KeyedBackoffOptions) {
    const given = read("options", options, "KeyedBackoff", KEYED_BACKOFF_OPTIONS);
    const { duration, cap, jitter = 0, clock = realClock, random = defaultRandom } = given;
    const { resetAfter = 2 * cap } = given;
    this.#clock = clock;
    this.#random = random;
    this.#share = jitter;
    this.#duration = toNanoseconds(duration);
    this.#cap = toNanoseconds(cap);
    this.#resetAfter = toNanoseconds(resetAfter);
  }

  /** Number of keys held, including expired keys that are not collected yet. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * The delay of a key, whether or not it has passed.
   *
   * @param key - any key
   * @returns milliseconds; 0 for an unknown key
   */
  get(key: Key): number {
    return toMilliseconds(this.#entries.get(key)?.nanoseconds ?? 0);
  }

  /**
   * Sets the next delay of a key after a failure. The delay starts now.
   *
   * @param key - the key that failed
   * @param at - instant of the failure: milliseconds of the clock's `monotonic()`, by default now.
   * Used only to decide whether the key has expired
   * @returns the delay, in milliseconds
   * @throws RangeError or TypeError if `at` is not an instant
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
   * Removes a key: its next delay is the first again.
   *
   * @param key - a key that has succeeded or no longer exists
   */
  reset(key: Key): void {
    this.#entries.delete(key);
  }

  /**
   * Whether less than the delay of a key has passed since an instant.
   *
   * @param key - any key
   * @param at - the instant: milliseconds of the clock's `monotonic()`
   * @returns false also if the key had expired at that instant
   * @throws RangeError or TypeError if `at` is not an instant
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
   * Whether an instant lies within the delay of a key, measured from the call of `next` that set it.
   *
   * @param key - any key
   * @param at - the instant: milliseconds of the clock's `monotonic()`, by default now
   * @returns false also if the key had expired at that instant
   * @throws RangeError or TypeError if `at` is not an instant
   */
  isInBackoffSinceUpdate(key: Key, at: number = this.#clock.monotonic()): boolean {
    requireInstant("at", at);
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#hasExpired(entry, at)) return false;
    return toNanoseconds(at - entry.updatedAt) < entry.nanoseconds;
  }

  /**
   * Removes every expired key. Memory is bounded without it: call it to free memory in an idle
   * program. Takes time linear in the number of keys.
   */
  gc(): void {
    const now = this.#clock.monotonic();
    for (const [key, entry] of this.#entries)
      if (this.#hasExpired(entry, now)) this.#entries.delete(key);
    this.#collectAt = Math.max(2 * this.#entries.size, FEW);
  }

  #set(key: Key, entry: Entry | undefined, nanoseconds: number): void {
    const updatedAt = this.#clock.monotonic();
    if (entry === undefined) {
      if (this.#entries.size >= this.#collectAt) this.gc();
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

  /** Strictly greater, as in Go. */
  #hasExpired({ updatedAt }: Entry, at: number): boolean {
    return toNanoseconds(at - updatedAt) > this.#resetAfter;
  }
}
