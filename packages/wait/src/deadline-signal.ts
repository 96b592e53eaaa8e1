import { type Clock, onAbort } from "@holdfast/clock";
import { TimeoutError } from "./timeout-error.ts";

/** A signal that aborts with another one, or with a `TimeoutError` when a time is up. */
export interface DeadlineSignal extends Disposable {
  readonly signal: AbortSignal;
}

/** A timeout of 0 is over before this returns. Disposal leaves no timer and no listener. */
export function deadlineSignal(
  clock: Clock,
  timeout: number,
  parent: AbortSignal | undefined,
): DeadlineSignal {
  if (timeout === Number.POSITIVE_INFINITY) return endless(parent);
  const controller = new AbortController();
  const expire = (): void => controller.abort(new TimeoutError(timeout));
  const { signal } = controller;
  const subscription = parent && onAbort(parent, (reason) => controller.abort(reason));
  if (timeout === 0) expire();
  const timer = signal.aborted ? undefined : clock.afterFunc(timeout, expire, { label: "timeout" });
  return {
    signal,
    [Symbol.dispose]: () => {
      timer?.stop();
      subscription?.[Symbol.dispose]();
    },
  };
}

/** Without a deadline the other signal will do. */
function endless(parent: AbortSignal | undefined): DeadlineSignal {
  return { signal: parent ?? new AbortController().signal, [Symbol.dispose]: () => {} };
}
