import { type Clock, onAbort, type Timer } from "@holdfast/clock";
import { abortable, LinkedController, recaptureStack } from "@holdfast/clock/internal";
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
  /** What ends it: the parent, or a controller, whose signal Node makes when it is first read. */
  readonly end: AbortSignal | LinkedController;
  #timer: Timer | undefined;
  #subscription: Disposable | undefined;
  #timeoutError: TimeoutError | undefined = undefined;

  constructor(timeout: number, options: DeadlineOptions) {
    const { clock, signal: parent, label = "timeout", cause, message } = options;
    if (timeout === Number.POSITIVE_INFINITY && parent !== undefined) {
      this.end = parent;
      // The one listener. Without it, each wait would add and remove one of its own.
      if (!parent.aborted) this.#subscription = onAbort(parent, () => {});
      return;
    }
    const controller = new LinkedController();
    this.end = controller;
    const abort = (reason: unknown): void => {
      this[Symbol.dispose]();
      controller.abort(reason);
    };
    const expire = (): void => {
      const text = typeof message === "function" ? message() : message;
      this.#timeoutError = new TimeoutError(timeout, { ...causeOf(cause), message: text });
      abort(this.#timeoutError);
    };
    if (parent?.aborted) abort(parent.reason);
    else if (timeout === 0) expire();
    else {
      if (parent !== undefined) this.#subscription = onAbort(parent, abort);
      if (timeout < Number.POSITIVE_INFINITY)
        this.#timer = clock.afterFunc(timeout, expire, { label });
    }
  }

  get signal(): AbortSignal {
    return this.end instanceof LinkedController ? this.end.signal : this.end;
  }

  /** Waits for `work` until this deadline at most, then disposes. */
  wait<Value, Argument>(
    work: (argument: Argument) => Value | PromiseLike<Value>,
    argument: Argument,
    onLate?: (value: Value) => unknown,
  ): Promise<Value> {
    return this.settle(abortable(work, this.end, onLate, argument));
  }

  /** The outcome of a wait that {@link Deadline.end} ends; disposes. */
  async settle<Value>(wait: Promise<Value>): Promise<Value> {
    try {
      return await wait;
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
    this[Symbol.dispose]();
    if (this.end instanceof LinkedController) this.end.abort();
  }

  [Symbol.dispose](): void {
    this.#timer?.stop();
    this.#subscription?.[Symbol.dispose]();
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
