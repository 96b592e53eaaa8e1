import { abortable, type Clock } from "@holdfast/clock";
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
  /** The signal of attempts that nothing ends. */
  readonly shown: AbortSignal;
}

/** The attempts of one call: each has a number, a signal and a time limit. */
export class Attempts<Value> {
  readonly #fn: (attempt: Attempt) => Value | PromiseLike<Value>;
  readonly #options: AttemptsOptions;
  /** Of the last attempt. */
  #limit: Deadline | undefined;
  /** The last error that was not a timeout: timeouts caused by timeouts would form an endless chain. */
  #lastFailure: unknown;
  #verdict: { readonly error: unknown } | undefined;
  readonly #late = {
    error: (error: unknown): void => {
      if (isTerminalError(error) || RetryAfterError.delayOf(error) !== undefined)
        this.#verdict ??= { error };
    },
  };

  constructor(fn: (attempt: Attempt) => Value | PromiseLike<Value>, options: AttemptsOptions) {
    this.#fn = fn;
    this.#options = options;
  }

  /**
   * Calls the function, and waits until its limit or its signal at most. Then call `failed` or dispose.
   *
   * @param lastError - the error of the attempt before, to be the cause of a timeout
   */
  begin(attempt: number, lastError?: unknown): Value | PromiseLike<Value> {
    const fn = this.#fn;
    const { clock, attemptTimeout, signal, shown } = this.#options;
    // A deadline that never comes would be a frame in the stack of every error.
    if (attemptTimeout === Number.POSITIVE_INFINITY) {
      if (signal === undefined) return fn({ attempt, signal: shown });
      return abortable(fn, signal, undefined, { attempt, signal });
    }
    if (!isTimeoutError(lastError)) this.#lastFailure = lastError;
    if (this.#limit !== undefined) this.#limit.restart();
    else
      this.#limit = new Deadline(attemptTimeout, { clock, signal, cause: () => this.#lastFailure });
    const limit = this.#limit;
    const { end } = limit;
    const given = {
      attempt,
      get signal() {
        return limit.signalOf(end);
      },
    };
    // Not `limit.wait`, which would be a frame in the stack of every error: the caller ends the attempt.
    return abortable(fn, end, this.#late, given);
  }

  /** Whether the last attempt failed with this error because its time had passed. */
  hasTimedOut(error: unknown): boolean {
    const end = this.#limit?.end;
    return end?.aborted === true && error === end.reason;
  }

  /**
   * Ends the limit of the last attempt. Returns its error, a timeout of this call with the stack of the code that waits:
   * call this in an async function, after its `await`.
   */
  failed(error: unknown): unknown {
    this[Symbol.dispose]();
    return this.#limit?.withCaller(error) ?? error;
  }

  [Symbol.dispose](): void {
    this.#limit?.[Symbol.dispose]();
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
}
