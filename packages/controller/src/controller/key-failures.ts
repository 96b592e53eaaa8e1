import type { PassiveClock } from "@holdfast/clock";
import { RepeatedLines, requireDelay, requireWhole } from "@holdfast/clock/internal";
import type { RateLimiter } from "../limit/rate-limiter.ts";
import type { Hooks } from "./hooks.ts";

/** Delay of a retry when the limiter fails, in milliseconds. */
const DELAY_WITHOUT_LIMITER = 1_000;

/** Most keys whose log lines are remembered. */
const MAX_KEYS = 10_000;

/** The failures of each key, as the limiter counts them. The limiter is user code: its errors are logged. */
export class KeyFailures {
  readonly #limiter: RateLimiter;
  readonly #hooks: Hooks;
  readonly #clock: PassiveClock;
  /** The lines about each key since it last succeeded. */
  readonly #lines = new Map<string, RepeatedLines>();

  constructor(limiter: RateLimiter, hooks: Hooks, clock: PassiveClock) {
    this.#clock = clock;
    this.#limiter = limiter;
    this.#hooks = hooks;
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

  /** Details for a line about a failure; undefined if its text was logged within the last minute. */
  detailsOf(key: string, text: string): { readonly count?: number } | undefined {
    const lines = this.#lines.get(key) ?? new RepeatedLines(this.#clock);
    this.#lines.delete(key);
    for (const [oldest] of this.#lines) {
      if (this.#lines.size < MAX_KEYS) break;
      this.#lines.delete(oldest);
    }
    this.#lines.set(key, lines);
    return lines.detailsOf(text);
  }

  /** The key has succeeded: its next failure is news. */
  endLines(key: string): void {
    this.#lines.delete(key);
  }
}
