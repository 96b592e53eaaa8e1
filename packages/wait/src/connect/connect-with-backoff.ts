import { loop } from "../loop/loop.ts";
import type { ConnectAttempt, ConnectOptions } from "./connect-options.ts";
import { ConnectionAttempts } from "./connection-attempts.ts";

/**
 * Connects, and tries again for as long as it takes, no more often than gRPC's protocol allows.
 *
 * `connect` resolves once the peer has proved that it accepts: over HTTP/2 that is the arrival of its
 * SETTINGS frame. A TCP or TLS connection proves nothing, for a proxy or a full backlog gives one as
 * well.
 *
 * An attempt that starts at `t` with the delay `d` has failed at `t + max(d, minConnectTimeout)`, and
 * the next one starts at `t + d`, or as soon as it has failed if that is later. So the time spent
 * connecting counts as waiting, and attempts never overlap unless `connect` goes on after its signal
 * has aborted. Each call starts from the first delay. For a connection to be replaced when it ends,
 * see {@link keepConnected}.
 *
 * | What happens | What `connectWithBackoff` does |
 * | --- | --- |
 * | `connect` resolves | resolves with the connection |
 * | `connect` throws or rejects | tells `onRetry`, waits for the rest of the delay, tries again |
 * | an attempt takes too long | aborts its signal and goes on as if it had rejected with a `TimeoutError` |
 * | `signal` aborts | rejects at once with `signal.reason`; the signal of an attempt aborts with it |
 * | `connect` resolves after its signal has aborted | hands the connection to `onLate` |
 * | `onRetry` throws or rejects | rejects with that error |
 *
 * @param connect - makes one attempt
 * @param options - see {@link ConnectOptions}
 * @returns a promise of the connection; bad arguments reject it with a RangeError or TypeError
 *
 * Source: gRPC Connection Backoff Protocol, `doc/connection-backoff.md` of github.com/grpc/grpc. The
 * Go implementation counts the delay from the failure instead.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { connectWithBackoff } from "@holdfast/wait";
 *
 * const clock = new FakeClock();
 * const { signal } = new AbortController();
 *
 * // Refuses at once, then never answers, then accepts after 50 ms.
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
  const attempts = new ConnectionAttempts(connect, options);
  const { signal } = attempts;
  const done = await loop({
    run: () => attempts.make(),
    onError: (error) => attempts.failed(error),
    manager: attempts,
    sliding: false,
    signal,
  });
  if (done === undefined) throw signal.reason;
  return done.value;
}
