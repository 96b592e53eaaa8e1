/** Equal lines are logged once in this time, in milliseconds. */
const INTERVAL = 60_000;

/** Most texts that have a line of their own within an interval; all others share one. */
const MAX_TEXTS = 100;

/**
 * A word with a digit: a duration, a port, an id. Texts that differ only in these are one text, because such a number
 * often changes with each failure. The status of an HTTP response is a word like any other.
 */
const NUMBER = /(?<!\bHTTP )[\w.:-]*\d[\w.:-]*/g;

/** The part of a clock that is used. */
interface MonotonicClock {
  monotonic(): number;
}

/** Details for a line that stands for others. */
export interface RepeatedDetails {
  /** Number of failures since the last line of this text, this one included. */
  readonly count?: number;
  /** Number of failures since the last line with this field, of texts that have no line of their own. */
  readonly others?: number;
}

/** Failures of one kind: when one was logged, and how many were not since then. */
interface Tally {
  loggedAt: number;
  failedAt: number;
  unlogged: number;
}

const NEVER = Number.NEGATIVE_INFINITY;

/** Which lines about a failure to log: the first of a text, then one a minute with the number of them. */
export class RepeatedLines {
  readonly #clock: MonotonicClock;
  /** Texts, those that failed longest ago first. */
  readonly #texts = new Map<string, Tally>();
  readonly #others: Tally = { loggedAt: NEVER, failedAt: NEVER, unlogged: 0 };
  #failedAt = NEVER;

  constructor(clock: MonotonicClock) {
    this.#clock = clock;
  }

  /** Whether nothing has failed for a minute. */
  get isQuiet(): boolean {
    return this.#clock.monotonic() - this.#failedAt >= INTERVAL;
  }

  /**
   * Details for a line about a failure: none for the first one of its text, later the `count` since the last one that
   * was logged. Undefined if it is not worth a line.
   *
   * @param text - texts that differ in their numbers alone are one
   * @param subject - the name of the thing that failed: its numbers count
   */
  detailsOf(text: string, subject = ""): RepeatedDetails | undefined {
    const now = this.#clock.monotonic();
    this.#failedAt = now;
    const name = `${subject}\n${text.replace(NUMBER, "0")}`;
    const known = this.#texts.get(name);
    if (known === undefined && !this.#hasRoom(now)) {
      const others = countOf(this.#others, now);
      return others === undefined ? undefined : { others };
    }
    const tally = known ?? { loggedAt: NEVER, failedAt: now, unlogged: 0 };
    this.#texts.delete(name);
    this.#texts.set(name, tally);
    const count = countOf(tally, now);
    if (count === undefined) return undefined;
    return known === undefined ? {} : { count };
  }

  /** Forgets texts that have not failed for a minute, if there are too many. */
  #hasRoom(now: number): boolean {
    for (const [name, { failedAt }] of this.#texts) {
      if (this.#texts.size < MAX_TEXTS || now - failedAt < INTERVAL) break;
      this.#texts.delete(name);
    }
    return this.#texts.size < MAX_TEXTS;
  }
}

/** Counts a failure. Returns the number since the last line; undefined if that was less than a minute ago. */
function countOf(tally: Tally, now: number): number | undefined {
  tally.failedAt = now;
  tally.unlogged++;
  if (now - tally.loggedAt < INTERVAL) return undefined;
  const count = tally.unlogged;
  tally.loggedAt = now;
  tally.unlogged = 0;
  return count;
}
