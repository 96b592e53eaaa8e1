/** Deadlines are rounded to it, so that a retry may be this much early. */
const NANOSECOND = 1e-6;

interface Failures {
  count: number;
  /** When the back-off of the last one that counts is over. */
  readonly until: number;
}

/**
 * The failures of each key since its last success.
 *
 * A failure before the back-off is over does not count, as with limiters: events cannot make a key
 * give up early.
 */
export class FailureCounts {
  readonly #failures = new Map<string, Failures>();

  /** How many count. */
  of(key: string): number {
    return this.#failures.get(key)?.count ?? 0;
  }

  /** @returns how many count, this one included unless it came before its time */
  fail(key: string, now: number): number {
    const failures = this.#failures.get(key);
    if (failures === undefined) {
      this.#failures.set(key, { count: 1, until: now });
      return 1;
    }
    if (failures.until - now < NANOSECOND) failures.count++;
    return failures.count;
  }

  /** The key, which has failed, is to be retried then. A failure before does not count. */
  backOff(key: string, until: number): void {
    this.#failures.set(key, { count: this.of(key), until });
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }
}
