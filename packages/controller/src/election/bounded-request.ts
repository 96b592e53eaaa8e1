import { type Clock, onAbort } from "@holdfast/clock";
import { TimeoutError } from "@holdfast/wait";

/** How long a request may take. */
export interface RequestBounds {
  readonly clock: Clock;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Waits for a request until it settles, its time is up, or the signal aborts; then it is left alone,
 * whether or not it obeys the signal that it got. What it comes to later is nobody's.
 */
export async function boundedRequest<Value>(
  request: (signal: AbortSignal) => Promise<Value>,
  { clock, timeout, signal }: RequestBounds,
): Promise<Value> {
  signal.throwIfAborted();
  const ended = new AbortController();
  const subscription = onAbort(signal, (reason) => ended.abort(reason));
  const timer = clock.afterFunc(timeout, () => ended.abort(new TimeoutError(timeout)), {
    label: "request to the lock",
  });
  try {
    return await new Promise((resolve, reject) => {
      onAbort(ended.signal, reject);
      request(ended.signal).then(resolve, reject);
    });
  } finally {
    timer.stop();
    subscription[Symbol.dispose]();
  }
}
