import type { PassiveClock } from "@holdfast/clock";

interface FailureRecord {
  failures: number;
  /** When the back-off is over, on the clock's monotonic line. */
  until: number;
}

/** Below a nanosecond nothing is left: a deadline as a double is off in its last digits. */
const NANOSECOND = 1e-6;

const FEWEST_TO_SWEEP = 1_024;

const HOUR = 3_600_000;

/**
 * For how long failures are remembered if nobody says so. An hour at least: a record that ends while
 * the retry still runs makes every failure the first, and a key that fails costs little to remember.
 */
export function defaultExpiry(longestDelay: number): number {
  return Math.max(longestDelay * 2, HOUR);
}

/**
 * The failures of each key, and until when it backs off.
 *
 * A record is void when its back-off has been over for longer than `expireAfter`. Void ones are taken
 * out whenever the number of records has doubled, so there are at most twice as many as count, for a
 * constant cost per failure and without a timer.
 */
export class FailureRecords {
  readonly #records = new Map<string, FailureRecord>();
  readonly #clock: PassiveClock;
  readonly #expireAfter: number;
  #sweepAt = FEWEST_TO_SWEEP;

  constructor(clock: PassiveClock, expireAfter: number) {
    this.#clock = clock;
    this.#expireAfter = expireAfter;
  }

  /**
   * Counts a failure, unless the key backs off.
   *
   * @returns what `delayOf` says of the number of failures before this one, or what is left
   */
  fail(key: string, delayOf: (failures: number, key: string) => number): number {
    const now = this.#clock.monotonic();
    const record = this.#records.get(key);
    if (record === undefined) {
      const delay = delayOf(0, key);
      this.#add(key, { failures: 1, until: now + delay }, now);
      return delay;
    }
    const left = record.until - now;
    if (left >= NANOSECOND) return left;
    const delay = delayOf(this.#isVoid(record, now) ? this.#reset(record) : record.failures, key);
    record.failures++;
    record.until = now + delay;
    return delay;
  }

  forget(key: string): void {
    this.#records.delete(key);
  }

  failures(key: string): number {
    const record = this.#records.get(key);
    if (record === undefined || this.#isVoid(record, this.#clock.monotonic())) return 0;
    return record.failures;
  }

  /** How many records are kept, void ones included. */
  get size(): number {
    return this.#records.size;
  }

  #add(key: string, record: FailureRecord, now: number): void {
    if (this.#records.size >= this.#sweepAt) this.#sweep(now);
    this.#records.set(key, record);
  }

  #reset(record: FailureRecord): number {
    record.failures = 0;
    return 0;
  }

  #sweep(now: number): void {
    for (const [key, record] of this.#records)
      if (this.#isVoid(record, now)) this.#records.delete(key);
    this.#sweepAt = Math.max(FEWEST_TO_SWEEP, this.#records.size * 2);
  }

  #isVoid(record: FailureRecord, now: number): boolean {
    return now - record.until > this.#expireAfter;
  }
}
