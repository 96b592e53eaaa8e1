import { requireFunction, requireHooks } from "@holdfast/clock/internal";
import { loop } from "../loop/loop.ts";
import type { LoopOptions } from "../loop/loop-options.ts";
import type { ConnectAttempt, ConnectOptions } from "./connect-options.ts";
import { ConnectionAttempts } from "./connection-attempts.ts";

/** What {@link keepConnected} can be told. */
export interface KeepConnectedOptions<Connection> extends ConnectOptions<Connection>, LoopOptions {}

/**
 * Connects as {@link connectWithBackoff} does, uses the connection until it has ended, and connects
 * again, until `signal` aborts.
 *
 * Once the peer has accepted an attempt, the delays start over, and that attempt counts as a first
 * one. A connection that has held for longer than the first delay is so replaced at once; a peer that
 * accepts and hangs up is left alone for the rest of that delay.
 *
 * | What happens | What `keepConnected` does |
 * | --- | --- |
 * | `connect` resolves | calls `use` with the connection and waits for it to settle |
 * | `use` resolves | connects again |
 * | `use` throws or rejects, `onError` is given | hands the error over, connects again |
 * | `use` throws or rejects otherwise | rejects with that error |
 * | an attempt fails | tells `onRetry` and tries again, as `connectWithBackoff` does |
 * | `signal` aborts while no connection stands | gives the attempt up and resolves at once |
 * | `signal` aborts during `use` | waits for `use` to settle, then resolves |
 *
 * @param connect - makes one attempt, and resolves when the peer has proved that it accepts
 * @param use - settles when the connection has ended. It receives `signal`, and should close the
 * connection when that aborts
 * @param options - see {@link KeepConnectedOptions}
 * @returns a promise that settles when no timer or listener is left; bad arguments reject it with a
 * RangeError or TypeError
 *
 * Source: as for {@link connectWithBackoff}. There a connection that was lost is made anew when
 * somebody asks for one; here somebody always does.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { keepConnected } from "@holdfast/wait";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const stop = new AbortController();
 *
 * const refuses = [true, true, true, false, true, false];
 * function connect({ attempt }: { attempt: number }) {
 *   const seconds = (clock.monotonic() - start) / 1_000;
 *   const refused = refuses.shift();
 *   console.log(`${seconds} s, attempt ${attempt}: ${refused ? "refused" : "accepted"}`);
 *   if (refused) throw new Error("refused");
 * }
 *
 * const kept = keepConnected(connect, (_, signal) => clock.sleep(60_000, { signal }), {
 *   signal: stop.signal,
 *   backoff: { duration: 1_000, factor: 2 },
 *   clock,
 * });
 * await clock.step(100_000);
 * stop.abort();
 * await kept;
 * // => 0 s, attempt 1: refused
 * // => 1 s, attempt 2: refused
 * // => 3 s, attempt 3: refused
 * // => 7 s, attempt 4: accepted
 * // => 67 s, attempt 1: refused
 * // => 68 s, attempt 2: accepted
 * ```
 */
export async function keepConnected<Connection>(
  connect: (attempt: ConnectAttempt) => Connection | PromiseLike<Connection>,
  use: (connection: Connection, signal: AbortSignal) => unknown,
  options: KeepConnectedOptions<Connection>,
): Promise<void> {
  const attempts = new ConnectionAttempts(connect, options);
  requireFunction("use", use);
  const { onError } = options;
  requireHooks("options", options, ["onError"]);
  const { signal } = attempts;
  let phase: "connecting" | "connected" | "exhausted" = "connecting";

  const connectAndUse = async (): Promise<void> => {
    phase = "connecting";
    const connection = await attempts.make();
    phase = "connected";
    attempts.accepted();
    if (signal.aborted) attempts.release(connection);
    else await use(connection, signal);
    phase = "exhausted";
    attempts.requireMore();
  };
  const failed = async (error: unknown): Promise<void> => {
    if (phase === "connecting") return attempts.failed(error);
    if (phase === "exhausted" || onError === undefined) throw error;
    await onError(error);
    return attempts.requireMore();
  };
  await loop({
    run: connectAndUse,
    isDone: () => false,
    onError: failed,
    manager: attempts,
    sliding: false,
    signal,
  });
}
