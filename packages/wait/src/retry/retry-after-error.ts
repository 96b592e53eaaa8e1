import {
  anything,
  RETRY_AFTER_CODE as CODE,
  findByCode,
  type Kinds,
  read,
  requireDelay,
  retryAfterIn,
  retryAfterOf,
  string,
} from "@holdfast/kit";

export const RETRY_AFTER_ERROR_OPTIONS: Kinds<RetryAfterErrorOptions> = {
  message: string,
  cause: anything,
};

/** Options for a {@link RetryAfterError}. */
export interface RetryAfterErrorOptions {
  /**
   * The message.
   *
   * @defaultValue `"retry after … ms"`
   */
  readonly message?: string | undefined;

  /** The error behind it. */
  readonly cause?: unknown;
}

/**
 * An error that names the delay before the next attempt, taken from a `Retry-After` header for
 * example.
 *
 * | Layer | Effect |
 * | --- | --- |
 * | `retry`, `retryBackoff`, `backoffDelay` | a failed attempt; the next delay is at least `after`, also above `cap` |
 * | `poll`, `pollBackoff` | no failure: waits at least that long and goes on, within the timeout |
 * | `connectWithBackoff`, `keepConnected` | a failed attempt; the next starts no earlier |
 * | a `Controller` | a failed reconcile; the delay is at least `after` |
 *
 * The planned delay still applies if it is longer: a server that says 0, or a date that is past on this
 * clock, does not switch the backoff off. The option `maxRetryAfter` limits `after`, to 15 minutes by default.
 *
 * In `wait`, `Infinity` rejects at once. In a controller the key waits for the next event. An error
 * whose `cause` is a `RetryAfterError` counts as one.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { retry, RetryAfterError } from "@holdfast/wait";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const attempts: number[] = [];
 * await clock.run(() =>
 *   retry(
 *     () => {
 *       if (attempts.push(clock.monotonic() - start) === 1) throw new RetryAfterError(30_000);
 *     },
 *     { clock },
 *   ),
 * );
 * console.log(attempts); // => [ 0, 30000 ]
 * ```
 */
export class RetryAfterError extends Error {
  /** Always `"RetryAfterError"`. */
  override readonly name = "RetryAfterError";
  /** Stable across versions and copies of this package. */
  readonly code: "ERR_WAIT_RETRY_AFTER" = CODE;
  /** The `code` of its errors, for `findError`. */
  static readonly code: "ERR_WAIT_RETRY_AFTER" = CODE;
  /** Delay before the next attempt, in milliseconds. */
  readonly after: number;

  /**
   * @param after - milliseconds; below 0 means 0, `Infinity` means never
   * @param options - see {@link RetryAfterErrorOptions}
   * @throws RangeError if `after` is NaN, TypeError if an argument has the wrong type
   */
  constructor(after: number, options: RetryAfterErrorOptions = {}) {
    const delay = requireDelay("after", after);
    const { message = `retry after ${delay} ms`, cause } = read(
      "options",
      options,
      "RetryAfterError",
      RETRY_AFTER_ERROR_OPTIONS,
    );
    super(message, cause === undefined ? undefined : { cause });
    this.after = delay;
  }

  /**
   * The delay that an error names: `after` of the first {@link RetryAfterError} among the error and
   * its causes.
   *
   * @param error - anything that was caught
   * @returns milliseconds, at least 0, possibly `Infinity`; undefined if the error names none
   */
  static delayOf(error: unknown): number | undefined {
    return retryAfterIn(error);
  }
}

/**
 * Whether an error is a {@link RetryAfterError}, of this copy of the package or another, or has one
 * among its causes.
 *
 * The cause of a `TimeoutError` does not count: it is the error of an earlier attempt.
 *
 * @param error - anything that was caught
 * @returns true if it names the delay before the next attempt
 *
 * @example
 * ```ts
 * import { isRetryAfterError, RetryAfterError } from "@holdfast/wait";
 *
 * const error = new RetryAfterError(30_000);
 * console.log(isRetryAfterError(error)); // => true
 * console.log(isRetryAfterError(new Error("busy", { cause: error }))); // => true
 * console.log(isRetryAfterError(new Error("429"))); // => false
 * ```
 */
export function isRetryAfterError(error: unknown): boolean {
  return findByCode(error, CODE) !== undefined;
}

/** The planned delay before the next attempt, or a longer one that the error demands. */
export function withRetryAfter(planned: number, error: unknown, maxRetryAfter: number): number {
  return Math.max(planned, retryAfterOf(error, maxRetryAfter) ?? 0);
}
