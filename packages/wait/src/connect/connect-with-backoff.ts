import { read, requireFunction } from "@holdfast/kit";
import { loop } from "../loop/loop.ts";
import type { ConnectAttempt, ConnectOptions } from "./connect-options.ts";
import { CONNECT_OPTIONS, ConnectionAttempts } from "./connection-attempts.ts";

/**
 * Calls `connect` until it succeeds, with the delays of gRPC's connection protocol.
 *
 * `connect` must resolve once the peer has proved that it accepts: over HTTP/2, on its SETTINGS frame.
 * A TCP or TLS connection does not prove it: a proxy or a full backlog accepts one too.
 *
 * An attempt that starts at `t` with the delay `d` times out at `t + max(d, minConnectTimeout)`. The
 * next one starts at `t + d`, or when the attempt has failed if that is later. So time spent
 * connecting counts as delay. Attempts overlap only if `connect` continues after its signal has
 * aborted. Each call starts at the first delay. To replace a connection when it ends, use
 * {@link keepConnected}.
 *
 * | Event | Result |
 * | --- | --- |
 * | `connect` resolves | resolves with the connection |
 * | `connect` throws or rejects | calls `onRetry`, waits for the rest of the delay, calls `connect` again |
 * | `connect` throws a `TerminalError`, or an error caused by one | rejects with the error unchanged, without `onRetry` |
 * | `connect` throws a `RetryAfterError`, or an error caused by one | like any error, but the next attempt does not start before the time it names |
 * | that error names `Infinity` | rejects with the error unchanged, without `onRetry` |
 * | the strategy throws | makes one more attempt; if it fails, rejects with the error of the strategy |
 * | an attempt exceeds its timeout | aborts its signal; the attempt fails with a `TimeoutError` |
 * | `connect` resolves after its signal has aborted | calls `onLate` with the connection |
 * | `onRetry` throws or rejects | rejects with that error |
 * | `signal` is already aborted | rejects with `signal.reason`; `connect` is not called |
 * | `signal` aborts | rejects with `signal.reason` at once, and aborts the signal of the attempt with it |
 *
 * Each attempt receives its own signal. Only an attempt without a time limit receives the `signal` of
 * the options itself: remove listeners that `connect` adds to it.
 *
 * @param connect - makes one attempt
 * @param options - see {@link ConnectOptions}
 * @returns a promise of the connection; bad arguments reject it with a RangeError or TypeError. When
 * it settles, no timer and no listener remain
 *
 * Source: gRPC Connection Backoff Protocol, `doc/connection-backoff.md` of github.com/grpc/grpc. The
 * Go implementation counts the delay from the failure instead.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { connectWithBackoff } from "@holdfast/wait/connect";
 *
 * const clock = new FakeClock();
 * const { signal } = new AbortController();
 *
 * // Refuses at once, then never responds, then accepts after 50 ms.
 * async function connect({ attempt, signal }: { attempt: number; signal: AbortSignal }) {
 *   if (attempt === 1) throw new Error("refused");
 *   await clock.sleep(attempt === 2 ? Infinity : 50, { signal });
 *   return `connection ${attempt}`;
 * }
 *
 * const connected = connectWithBackoff(connect, {
 *   signal,
 *   clock,
 *   onRetry: ({ error, delay }) => console.log(`${error}, again in ${delay} ms`),
 * });
 * console.log(await clock.run(() => connected));
 * // => Error: refused, again in 1000 ms
 * // => TimeoutError: timed out after 20000 ms, again in 0 ms
 * // => connection 3
 * ```
 */
export async function connectWithBackoff<Connection>(
  connect: (attempt: ConnectAttempt) => Connection | PromiseLike<Connection>,
  options: ConnectOptions<Connection>,
): Promise<Connection> {
  requireFunction("connect", connect);
  const attempts = new ConnectionAttempts(
    read("options", options, "connectWithBackoff", CONNECT_OPTIONS),
  );
  const { signal } = attempts;
  const done = await loop({
    run: () => {
      const { limit, facts } = attempts.begin();
      return limit.wait(connect, facts, attempts.onLate);
    },
    isDone: () => true,
    onError: (error) => attempts.failed(error),
    manager: attempts,
    sliding: false,
    signal,
  });
  if (done === undefined) throw signal.reason;
  return done.value;
}
