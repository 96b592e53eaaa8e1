import type { Clock } from "@holdfast/clock";
import { abortable } from "@holdfast/clock/internal";
import { Deadline } from "../limit/deadline.ts";
import { isTimeoutError } from "../limit/timeout-error.ts";
import { RetryAfterError } from "./retry-after-error.ts";
import type { Attempt } from "./retry-options.ts";
import { isTerminalError } from "./terminal-error.ts";

/** Options for {@link Attempts}. */
export interface AttemptsOptions {
  readonly clock: Clock;
  /** Time limit of each attempt in milliseconds; `Infinity` is none. */
  readonly attemptTimeout: number;
  /** Ends all attempts; undefined if nothing does. */
  readonly signal: AbortSignal | undefined;
}

/** The attempts of one call: each has a number, a signal and a time limit. */
export class Attempts<Value> {
  readonly #fn: (attempt: Attempt) => Value | PromiseLike<Value>;
  readonly #options: AttemptsOptions;
  /** Of an attempt that nothing ends. */
  readonly #never = new AbortController();
  /** Of the last attempt. */
  #limit: Deadline | undefined;
  /** The last error that was not a timeout: timeouts caused by timeouts would form an endless chain. */
  #lastFailure: unknown;
  #verdict: { readonly error: unknown } | undefined;

  constructor(fn: (attempt: Attempt) => Value | PromiseLike<Value>, options: AttemptsOptions) {
    this.#fn = fn;
    this.#options = options;
  }

  /**
   * Calls the function, and waits until its limit or its signal at most.
   *
   * @param lastError - the error of the attempt before, to be the cause of a timeout
   */
  begin(attempt: number, lastError?: unknown): Value | PromiseLike<Value> {
    const { clock, attemptTimeout, signal } = this.#options;
    // A deadline that never comes would be a frame in the stack of every error.
    if (attemptTimeout === Number.POSITIVE_INFINITY) {
      if (signal === undefined) return this.#fn({ attempt, signal: this.#never.signal });
      return abortable(this.#fn, signal, undefined, { attempt, signal });
    }
    if (!isTimeoutError(lastError)) this.#lastFailure = lastError;
    const limit = new Deadline(attemptTimeout, { clock, signal, cause: () => this.#lastFailure });
    this.#limit = limit;
    const given = {
      attempt,
      get signal() {
        return limit.signal;
      },
    };
    const late = { error: (error: unknown) => this.#heed(error) };
    // As `limit.wait`, with one frame less.
    return limit.settle(abortable(this.#fn, limit.end, late, given));
  }

  /** Whether the last attempt failed with this error because its time had passed. */
  hasTimedOut(error: unknown): boolean {
    return this.#limit?.signal.aborted === true && error === this.#limit.signal.reason;
  }

  /**
   * The error with which an attempt failed after it had timed out, if that says whether another attempt makes sense, or
   * when: a terminal error, or one that names a time. The first since the last call; undefined if there is none.
   */
  takeVerdict(): { readonly error: unknown } | undefined {
    const verdict = this.#verdict;
    this.#verdict = undefined;
    return verdict;
  }

  #heed(error: unknown): void {
    if (isTerminalError(error) || RetryAfterError.delayOf(error) !== undefined)
      this.#verdict ??= { error };
  }
}
