import type { PassiveClock } from "@holdfast/clock";
import { type RepeatedDetails, RepeatedLines, requireDelay, requireWhole } from "@holdfast/kit";
import type { RateLimiter } from "../limit/rate-limiter.ts";
import type { Hooks } from "./hooks.ts";

/** Delay of a retry when the limiter fails, in milliseconds. */
const DELAY_WITHOUT_LIMITER = 1_000;

/** Most keys that are remembered, and most lines about keys within a minute; all other failures share one line. */
const MAX_KEYS = 10_000;

/** In milliseconds. */
const MINUTE = 60_000;

/** The failures of each key, as the limiter counts them. The limiter is user code: its errors are logged. */
export class KeyFailures {
  readonly #limiter: RateLimiter;
  readonly #hooks: Hooks;
  readonly #clock: PassiveClock;
  /** The lines about each key since it last succeeded, the key first that failed longest ago. */
  readonly #lines = new Map<string, RepeatedLines>();
  readonly #others: RepeatedLines;
  #minuteEnd = Number.NEGATIVE_INFINITY;
  /** Number of lines in the minute that ends then. */
  #linesInMinute = 0;

  constructor(limiter: RateLimiter, hooks: Hooks, clock: PassiveClock) {
    this.#clock = clock;
    this.#limiter = limiter;
    this.#hooks = hooks;
    this.#others = new RepeatedLines(clock);
  }

  of(key: string): number {
    let failures = 0;
    this.#hooks.call("limiter", () => {
      failures = requireWhole("limiter.requeues(key)", this.#limiter.requeues(key), 0);
    });
    return failures;
  }

  /** @returns the delay of the retry: the limiter's, or a longer one, `after`, that the failure demands */
  count(key: string, after: number | undefined): number {
    let delay = DELAY_WITHOUT_LIMITER;
    this.#hooks.call("limiter", () => {
      delay = requireDelay("limiter.when(key)", this.#limiter.when(key));
      // The failure is counted. A key that backs off is told to do so for longer.
      if (delay > 0 && after !== undefined && after > delay) this.#limiter.when(key, after);
    });
    return Math.max(delay, after ?? 0);
  }

  forget(key: string): void {
    this.#hooks.call("limiter", () => this.#limiter.forget(key));
  }

  /**
   * Details for a line about a failure; undefined if its text was logged within the last minute. If too many keys fail,
   * a line with `others` stands for those without a line of their own.
   */
  detailsOf(key: string, text: string): RepeatedDetails | undefined {
    const known = this.#lines.get(key);
    if (known === undefined && !this.#hasRoom()) return this.#detailsOfOthers();
    const lines = known ?? new RepeatedLines(this.#clock);
    this.#lines.delete(key);
    this.#lines.set(key, lines);
    const details = lines.detailsOf(text);
    return details === undefined || this.#spendLine() ? details : this.#detailsOfOthers();
  }

  /** The key has succeeded: its next failure is news. */
  endLines(key: string): void {
    this.#lines.delete(key);
  }

  /** Forgets the key that failed longest ago, if there are too many and it has not failed for a minute. */
  #hasRoom(): boolean {
    if (this.#lines.size < MAX_KEYS) return true;
    for (const [oldest, lines] of this.#lines) return lines.isQuiet && this.#lines.delete(oldest);
    return true;
  }

  /** Whether another line fits into this minute. */
  #spendLine(): boolean {
    const now = this.#clock.monotonic();
    if (now >= this.#minuteEnd) {
      this.#minuteEnd = now + MINUTE;
      this.#linesInMinute = 0;
    }
    return ++this.#linesInMinute <= MAX_KEYS;
  }

  #detailsOfOthers(): RepeatedDetails | undefined {
    const details = this.#others.detailsOf("");
    return details && { others: details.count ?? 1 };
  }
}
