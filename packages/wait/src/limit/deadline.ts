import { type Clock, onAbort, type Timer } from "@holdfast/clock";
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
}

/**
 * A signal that aborts with another signal, or with a {@link TimeoutError} after `timeout`
 * milliseconds. An aborted parent wins over a timeout of 0. Disposal releases timer and listener.
 */
export class Deadline implements Disposable {
  readonly signal: AbortSignal;
  /** Undefined if `signal` is the parent. */
  readonly #controller: AbortController | undefined;
  #timer: Timer | undefined;
  #subscription: Disposable | undefined;

  constructor(
    timeout: number,
    { clock, signal: parent, label = "timeout", cause }: DeadlineOptions,
  ) {
    if (timeout === Number.POSITIVE_INFINITY && parent !== undefined) {
      this.signal = parent;
      return;
    }
    const controller = new AbortController();
    this.#controller = controller;
    const abort = (reason: unknown): void => {
      this[Symbol.dispose]();
      controller.abort(reason);
    };
    const expire = (): void => abort(timeoutError(timeout, cause));
    this.signal = controller.signal;
    if (parent?.aborted) abort(parent.reason);
    else if (timeout === 0) expire();
    else {
      if (parent !== undefined) this.#subscription = onAbort(parent, abort);
      if (timeout < Number.POSITIVE_INFINITY)
        this.#timer = clock.afterFunc(timeout, expire, { label });
    }
  }

  /** Disposes, and aborts a signal of its own, as the end of a wait cancels its context in Go. */
  cancel(): void {
    this[Symbol.dispose]();
    this.#controller?.abort();
  }

  [Symbol.dispose](): void {
    this.#timer?.stop();
    this.#subscription?.[Symbol.dispose]();
  }
}

function timeoutError(timeout: number, causeOf: (() => unknown) | undefined): TimeoutError {
  let cause: unknown;
  try {
    cause = causeOf?.();
  } catch (error) {
    cause = error;
  }
  return new TimeoutError(timeout, cause === undefined ? undefined : { cause });
}
