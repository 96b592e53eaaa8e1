import type { PassiveClock } from "@holdfast/clock";
import { requireDelay } from "@holdfast/kit";

interface FailureRecord {
  failures: number;
  /** End of the backoff on the clock's monotonic line. */
  until: number;
}

/** A remainder below this counts as 0: the last digits of a deadline are rounding errors. */
const NANOSECOND = 1e-6;

const MIN_RECORDS_TO_SWEEP = 1_024;

const HOUR = 3_600_000;

/**
 * Default of `expireAfter`. At least an hour: if a record expired while the retry still runs, every
 * failure would count as the first. A failing key costs little memory.
 */
export function defaultExpiry(longestDelay: number): number {
  return Math.max(longestDelay * 2, HOUR);
}

/**
 * End of a backoff. A key with the delay `Infinity` waits for an event, not for a time: its backoff is
 * over, so its next failure counts and its record expires.
 */
function endOf(now: number, delay: number): number {
  return delay === Number.POSITIVE_INFINITY ? now : now + delay;
}

/**
 * The failures of each key, and the end of its backoff.
 *
 * A record expires `expireAfter` after the end of its backoff. Expired records are removed whenever
 * the number of records has doubled. So at most half of them are expired, at a constant cost per
 * failure and without a timer.
 */
export class FailureRecords {
  readonly #records = new Map<string, FailureRecord>();
  readonly #clock: Pick<PassiveClock, "monotonic">;
  readonly #expireAfter: number;
  #sweepAt = MIN_RECORDS_TO_SWEEP;

  constructor(clock: Pick<PassiveClock, "monotonic">, expireAfter: number) {
    this.#clock = clock;
    this.#expireAfter = expireAfter;
  }

  /**
   * Counts a failure, unless the key backs off.
   *
   * @param delayOf - called if the failure counts, with the number of failures before it
   * @param after - replaces the delay, and the rest of a backoff
   * @returns the delay, or the rest of the backoff
   */
  fail(
    key: string,
    delayOf: (failures: number, key: string) => number,
    after: number | undefined,
  ): number {
    const named = after === undefined ? undefined : requireDelay("after", after);
    const now = this.#clock.monotonic();
    const record = this.#records.get(key);
    if (record !== undefined && record.until - now >= NANOSECOND) {
      if (named === undefined) return record.until - now;
      record.until = endOf(now, named);
      return named;
    }
    const failures = this.#countOf(record, now);
    const own = delayOf(failures, key);
    const delay = named ?? own;
    if (this.#records.size >= this.#sweepAt) this.#sweep(now);
    this.#records.set(key, { failures: failures + 1, until: endOf(now, delay) });
    return delay;
  }

  forget(key: string): void {
    this.#records.delete(key);
  }

  failures(key: string): number {
    const record = this.#records.get(key);
    return record === undefined ? 0 : this.#countOf(record, this.#clock.monotonic());
  }

  /** Number of records, expired ones included. */
  get size(): number {
    return this.#records.size;
  }

  #sweep(now: number): void {
    for (const [key, record] of this.#records)
      if (this.#isExpired(record, now)) this.#records.delete(key);
    this.#sweepAt = Math.max(MIN_RECORDS_TO_SWEEP, this.#records.size * 2);
  }

  #countOf(record: FailureRecord | undefined, now: number): number {
    return record === undefined || this.#isExpired(record, now) ? 0 : record.failures;
  }

  #isExpired(record: FailureRecord, now: number): boolean {
    return now - record.until > this.#expireAfter;
  }
}
