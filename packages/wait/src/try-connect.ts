import { type Clock, onAbort } from "@holdfast/clock";
import type { ConnectAttempt } from "./connect-options.ts";
import { TimeoutError } from "./timeout-error.ts";

/** One attempt to connect, and what bounds it. */
export interface TryConnect<Connection> {
  readonly connect: (attempt: ConnectAttempt) => Connection | PromiseLike<Connection>;
  /** What `connect` is told, but for the signal. */
  readonly facts: Omit<ConnectAttempt, "signal">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onLate: ((connection: Connection) => unknown) | undefined;
}

/**
 * Settles as `connect` does, or rejects at once when its time is up or `signal` aborts. Nobody waits
 * for `connect` any more then: whether it gives up is its own affair.
 */
export function tryConnect<Connection>(options: TryConnect<Connection>): Promise<Connection> {
  const { connect, facts, clock, signal, onLate } = options;
  const { timeout } = facts;
  const attempt = new AbortController();
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const giveUp = (reason: unknown): void => {
      leave();
      reject(reason);
      attempt.abort(reason);
    };
    const expire = (): void => giveUp(new TimeoutError(timeout));
    const timer = clock.afterFunc(timeout, expire, { label: "attempt to connect" });
    const subscription = onAbort(signal, giveUp);
    const leave = (): void => {
      timer.stop();
      subscription[Symbol.dispose]();
    };
    const connecting = (async () => connect({ ...facts, signal: attempt.signal }))();
    void connecting.then(
      (connection) => {
        if (attempt.signal.aborted) return onLate?.(connection);
        leave();
        return resolve(connection);
      },
      (error: unknown) => {
        leave();
        reject(error);
      },
    );
  });
}
