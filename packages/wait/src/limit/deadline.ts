import { abortable, type Clock, LinkedController, onAbort, type Timer } from "@holdfast/clock";
import { AbortList } from "@holdfast/clock/internal";
import { recaptureStack } from "@holdfast/kit";
import { TimeoutError } from "./timeout-error.ts";

/** Options for a {@link Deadline}. */
export interface DeadlineOptions {
  readonly clock: Clock;
  /** The signal to follow. */
  readonly signal: AbortSignal | undefined;
  /** The label of the timer. */
  readonly label?: string | undefined;
  /** Supplies the `cause` of the {@link TimeoutError}. */
  readonly cause?: (() => unknown) | undefined;
  /** The message of the {@link TimeoutError}. */
  readonly message?: string | (() => string) | undefined;
}

/**
 * A signal that aborts with another signal, or with a {@link TimeoutError} after `timeout`
 * milliseconds. An aborted parent wins over a timeout of 0. Disposal releases timer and listener.
 */
export class Deadline implements Disposable {
  readonly #timeout: number;
  readonly #options: DeadlineOptions;
  /** That of the parent, or a controller, which makes its signal when that is first read. */
  #end!: AbortList;
  #timer: Timer | undefined = undefined;
  #subscription: Disposable | undefined = undefined;
  #timeoutError: TimeoutError | undefined = undefined;

  constructor(timeout: number, options: DeadlineOptions) {
    this.#timeout = timeout;
    this.#options = options;
    this.restart();
  }

  /** What ends a wait now. */
  get end(): AbortList {
    return this.#end;
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Begins again, for other work: on the same timer, with another signal. */
  restart(): void {
    this[Symbol.dispose]();
    const { signal: parent } = this.#options;
    if (this.#timeout === Number.POSITIVE_INFINITY && parent !== undefined) {
      this.#end = AbortList.of(parent);
      // The one listener. Without it, each wait would add and remove one of its own.
      if (!parent.aborted) this.#subscription = onAbort(parent, () => {});
      return;
    }
    this.#end = new LinkedController();
    if (parent?.aborted) this.#abort(parent.reason);
    else if (this.#timeout === 0) this.#expire();
    else {
      this.#subscription = parent && onAbort(parent, (reason) => this.#abort(reason));
      if (this.#timeout < Number.POSITIVE_INFINITY) this.#arm();
    }
  }

  /** Waits for `work` until this deadline at most, then disposes. */
  async wait<Value, Argument>(
    work: (argument: Argument) => Value | PromiseLike<Value>,
    argument: Argument,
    onLate?: (value: Value) => unknown,
  ): Promise<Value> {
    try {
      return await abortable(work, this.#end, onLate, argument);
    } catch (error) {
      throw this.withCaller(error);
    } finally {
      this[Symbol.dispose]();
    }
  }

  /**
   * Returns the error. The `TimeoutError` of this deadline, which a timer made, gets the stack of the code
   * that waits: call this in an async function, after its `await`.
   */
  withCaller(error: unknown): unknown {
    if (this.#timeoutError !== undefined && error === this.#timeoutError)
      recaptureStack(this.#timeoutError, this.withCaller);
    return error;
  }

  /** Disposes, and aborts a signal of its own, as the end of a wait cancels its context in Go. */
  cancel(): void {
    this.#abort();
  }

  [Symbol.dispose](): void {
    this.#timer?.stop();
    this.#subscription?.[Symbol.dispose]();
  }

  #arm(): void {
    const { clock, label = "timeout" } = this.#options;
    if (this.#timer !== undefined) this.#timer.reset(this.#timeout);
    else this.#timer = clock.afterFunc(this.#timeout, () => this.#expire(), { label });
  }

  #expire(): void {
    const { cause, message } = this.#options;
    const text = typeof message === "function" ? message() : message;
    this.#timeoutError = new TimeoutError(this.#timeout, { ...causeOf(cause), message: text });
    this.#abort(this.#timeoutError);
  }

  #abort(reason?: unknown): void {
    this[Symbol.dispose]();
    if (this.#end instanceof LinkedController) this.#end.abort(reason);
  }
}

function causeOf(cause: (() => unknown) | undefined): ErrorOptions | undefined {
  let value: unknown;
  try {
    value = cause?.();
  } catch (error) {
    value = error;
  }
  return value === undefined ? undefined : { cause: value };
}
