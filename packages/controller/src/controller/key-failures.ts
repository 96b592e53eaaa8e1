import { type Hooks, requireDelay, requireWhole } from "@holdfast/kit";
import type { RateLimiter } from "../limit/rate-limiter.ts";
import { type CountedOutcome, limitRetries, type RetryOutcome } from "../reconcile/outcome.ts";

/** Delay of a retry when the limiter fails, in milliseconds. */
const DELAY_WITHOUT_LIMITER = 1_000;

/** The failures of each key, as the limiter counts them. The limiter is user code: its errors are logged. */
export class KeyFailures {
  readonly #limiter: RateLimiter;
  readonly #retries: number;
  readonly #hooks: Hooks;

  constructor(options: { readonly limiter: RateLimiter; readonly retries: number }, hooks: Hooks) {
    this.#limiter = options.limiter;
    this.#retries = options.retries;
    this.#hooks = hooks;
  }

  of(key: string): number {
    try {
      return requireWhole("limiter.requeues(key)", this.#limiter.requeues(key), 0);
    } catch (error) {
      this.#hooks.failed("limiter", error);
      return 0;
    }
  }

  /** Counts a failure that may be retried: its outcome, a retry with its delay. */
  counted(key: string, retry: RetryOutcome): CountedOutcome {
    const delay = this.#count(key, retry.delay);
    return limitRetries({ ...retry, delay }, this.of(key), this.#retries);
  }

  forget(key: string): void {
    this.#hooks.call("limiter", () => this.#limiter.forget(key));
  }

  /** @returns the delay of the retry: the limiter's, or a longer one, `after`, that the failure demands */
  #count(key: string, after: number | undefined): number {
    let delay = DELAY_WITHOUT_LIMITER;
    this.#hooks.call("limiter", () => {
      delay = requireDelay("limiter.when(key)", this.#limiter.when(key));
      // The failure is counted. A key that backs off is told to do so for longer.
      if (delay > 0 && after !== undefined && after > delay) this.#limiter.when(key, after);
    });
    return Math.max(delay, after ?? 0);
  }
}
