/** A subject has one line in this time, in milliseconds. */
const INTERVAL = 60_000;

/** After so long without a failure, the first other text of a subject has a line at once, in milliseconds. */
const QUIET = 10 * INTERVAL;

/** Most subjects with lines of their own; all others share one. */
const MAX_SUBJECTS = 100;

/**
 * A word with a digit: a duration, a port, an id. Texts that differ only in these are one text, because such a number
 * often changes with each failure. The status of an HTTP response is a word like any other.
 */
const NUMBER = /(?<!\bHTTP )[\w.:-]*\d[\w.:-]*/g;

/** A text with each word that has a digit replaced by "0": texts of one failure are equal then. */
export function withoutNumbers(text: string): string {
  return text.replace(NUMBER, "0");
}

/** The part of a clock that is used. */
export interface MonotonicClock {
  monotonic(): number;
}

/** Details for a line that stands for others. */
export interface RepeatedDetails {
  /** Number of failures of the subject that the line stands for, its own included. */
  readonly count?: number;
  /** Number of failures that the line stands for, of subjects without a line of their own. */
  readonly others?: number;
}

/** Failures of one subject. */
interface Tally {
  /** The last text that had a line. */
  text: string;
  loggedAt: number;
  failedAt: number;
  /** Failures that no line stands for. */
  unlogged: number;
  /** Whether a second text had a line before its minute. */
  hasNews: boolean;
}

/**
 * Which lines about failures to log: one a minute for each subject, whatever its texts, with the number of failures that
 * it stands for. The first other text since the subject was quiet for ten minutes has a line at once: it is news. Later ones
 * wait for the minute, because a text may be another one each time. Above a number of subjects, or of lines in a minute,
 * one line a minute stands for all others.
 */
export class RepeatedLines {
  readonly #clock: MonotonicClock;
  readonly #max: number;
  /** Subjects, those that failed longest ago first. */
  readonly #subjects = new Map<string, Tally>();
  readonly #others = newTally();
  #minuteEnd = Number.NEGATIVE_INFINITY;
  /** Number of lines in the minute that ends then. */
  #lines = 0;

  /** @param max - most subjects with lines of their own, and most of these lines in a minute */
  constructor(clock: MonotonicClock, max: number = MAX_SUBJECTS) {
    this.#clock = clock;
    this.#max = max;
  }

  /**
   * Details for a line about a failure; undefined if it is not worth a line.
   *
   * @param subject - the thing that failed. Never the text of an error, which may be another one each time
   * @param text - texts that differ in their numbers alone are one
   */
  detailsOf(subject: string, text: string): RepeatedDetails | undefined {
    const now = this.#clock.monotonic();
    const tally = this.#tallyOf(subject, now);
    if (tally === undefined) return this.#detailsOfOthers(now);
    const name = withoutNumbers(text);
    if (now - tally.failedAt >= QUIET) tally.hasNews = false;
    tally.failedAt = now;
    const isDue = now - tally.loggedAt >= INTERVAL;
    if (!isDue && (tally.hasNews || tally.text === name)) {
      tally.unlogged++;
      return undefined;
    }
    if (!this.#spendLine(now)) return this.#detailsOfOthers(now);
    tally.text = name;
    if (!isDue) {
      tally.hasNews = true;
      return {}; // Those before had another text.
    }
    tally.loggedAt = now;
    const count = tally.unlogged + 1;
    tally.unlogged = 0;
    return count === 1 ? {} : { count };
  }

  /** The failures of a subject; undefined if too many others fail. */
  #tallyOf(subject: string, now: number): Tally | undefined {
    const tally = this.#subjects.get(subject) ?? (this.#hasRoom(now) ? newTally() : undefined);
    if (tally === undefined) return undefined;
    this.#subjects.delete(subject);
    this.#subjects.set(subject, tally);
    return tally;
  }

  /** Forgets the subject that failed longest ago, if there are too many and it has not failed for a minute. */
  #hasRoom(now: number): boolean {
    if (this.#subjects.size < this.#max) return true;
    for (const [oldest, { failedAt, unlogged }] of this.#subjects) {
      if (now - failedAt < INTERVAL) return false;
      this.#others.unlogged += unlogged;
      return this.#subjects.delete(oldest);
    }
    return false;
  }

  /** Whether another line fits into this minute. */
  #spendLine(now: number): boolean {
    if (now >= this.#minuteEnd) {
      this.#minuteEnd = now + INTERVAL;
      this.#lines = 0;
    }
    return ++this.#lines <= this.#max;
  }

  #detailsOfOthers(now: number): RepeatedDetails | undefined {
    const others = ++this.#others.unlogged;
    if (now - this.#others.loggedAt < INTERVAL) return undefined;
    this.#others.loggedAt = now;
    this.#others.unlogged = 0;
    return { others };
  }
}

function newTally(): Tally {
  const never = Number.NEGATIVE_INFINITY;
  return { text: "", loggedAt: never, failedAt: never, unlogged: 0, hasNews: false };
}
