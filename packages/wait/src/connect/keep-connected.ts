import { LinkedController } from "@holdfast/clock";
import { func, type Kinds, notNegative, read, requireFunction } from "@holdfast/kit";
import { defaultRandom, type Random } from "../delay/random.ts";
import { loop } from "../loop/loop.ts";
import type { LoopOptions } from "../loop/loop-options.ts";
import type { ConnectAttempt, ConnectOptions } from "./connect-options.ts";
import { CONNECT_OPTIONS, ConnectionAttempts } from "./connection-attempts.ts";

export const KEEP_CONNECTED_OPTIONS: Kinds<KeepConnectedOptions<never>> = {
  ...CONNECT_OPTIONS,
  resetAfter: notNegative,
  random: func,
  onError: func,
};

const RESET_AFTER = 10_000;

/** Options for {@link keepConnected}. */
export interface KeepConnectedOptions<Connection> extends ConnectOptions<Connection>, LoopOptions {
  /**
   * How long a connection must last to reset the delays, in milliseconds. At least 0; `Infinity` never
   * resets them. A peer that accepts and hangs up is then called less and less often.
   *
   * @defaultValue `10_000`
   */
  readonly resetAfter?: number | undefined;

  /**
   * Source of randomness that spreads the first attempt after a connection has ended, and of the jitter of the delays if
   * `backoff` has none of its own.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/** Calls `work` with a signal that aborts with `parent`, and when `work` has settled. */
async function withOwnSignal(
  parent: AbortSignal,
  work: (signal: AbortSignal) => unknown,
): Promise<void> {
  using controller = new LinkedController(parent);
  try {
    await work(controller.signal);
  } finally {
    controller.abort();
  }
}

/**
 * Keeps a connection open until `signal` aborts: connects as {@link connectWithBackoff} does, calls
 * `use`, and connects again when `use` settles.
 *
 * A connection that lasted for `resetAfter` resets the delays: the next attempt is number 1. After a connection that
 * ended earlier, the delays go on as after a failed attempt. In both cases the next attempt starts no earlier than the
 * planned delay after the start of the accepted one. From then on, or from the end of the connection if that is later, it
 * starts at a random time within that delay: clients that lose their connections together do not come back together.
 *
 * | Event | Result |
 * | --- | --- |
 * | `connect` resolves | calls `use` with the connection and waits for it to settle |
 * | `use` resolves | connects again |
 * | `use` throws or rejects, with `onError` | calls `onError` with the error, connects again |
 * | `use` throws or rejects, without `onError` | rejects with the error unchanged |
 * | `use` throws a `TerminalError`, or an error caused by one | rejects with the error unchanged, without `onError` |
 * | `use` throws a `RetryAfterError`, or an error caused by one | like any error, but the next attempt does not start before the time it names, and at a random time after that, as above |
 * | that error names `Infinity` | rejects with the error unchanged, without `onError` |
 * | `connect` throws or rejects | as in {@link connectWithBackoff}, including `TerminalError` and `RetryAfterError` |
 * | `signal` is already aborted | resolves; `connect` is not called |
 * | `signal` aborts without a connection | ends the attempt and resolves at once |
 * | `signal` aborts during `use` | waits for `use` to settle, then resolves |
 *
 * `use` receives a signal for each connection. It aborts with the `signal` of the options, and when `use`
 * has settled, so listeners that `use` leaves on it end with the connection. `connect` receives a signal
 * for each attempt.
 *
 * @param connect - makes one attempt; resolves once the peer has proved that it accepts
 * @param use - uses the connection and settles when it has ended; receives a signal and should close
 * the connection when it aborts
 * @param options - see {@link KeepConnectedOptions}
 * @returns a promise that settles when the loop has ended; no timer and no listener remain. Bad
 * arguments reject it with a RangeError or TypeError
 *
 * Source: as for {@link connectWithBackoff}. gRPC replaces a lost connection on the next request;
 * this function replaces it without one.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { keepConnected } from "@holdfast/wait/connect";
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
 *   random: () => 0.5, // in production leave it out
 *   clock,
 * });
 * await clock.step(100_000);
 * stop.abort();
 * await kept;
 * // => 0 s, attempt 1: refused
 * // => 1 s, attempt 2: refused
 * // => 3 s, attempt 3: refused
 * // => 7 s, attempt 4: accepted
 * // => 67.5 s, attempt 1: refused
 * // => 68.5 s, attempt 2: accepted
 * ```
 */
export async function keepConnected<Connection>(
  connect: (attempt: ConnectAttempt) => Connection | PromiseLike<Connection>,
  use: (connection: Connection, signal: AbortSignal) => unknown,
  options: KeepConnectedOptions<Connection>,
): Promise<void> {
  requireFunction("connect", connect);
  requireFunction("use", use);
  const given = read("options", options, "keepConnected", KEEP_CONNECTED_OPTIONS);
  const { onError, resetAfter = RESET_AFTER, random = defaultRandom } = given;
  const attempts = new ConnectionAttempts<Connection>(given, given.random);
  const { signal } = attempts;
  let phase: "connecting" | "connected" | "exhausted" = "connecting";

  const connectAndUse = async (): Promise<void> => {
    phase = "connecting";
    const { limit, facts } = attempts.begin();
    const connection = await limit.wait(connect, facts, attempts.onLate);
    phase = "connected";
    const since = attempts.now();
    try {
      if (signal.aborted) attempts.onLate?.(connection);
      else await withOwnSignal(signal, (own) => use(connection, own));
    } finally {
      attempts.ended(attempts.now() - since >= resetAfter, random);
    }
    phase = "exhausted";
    attempts.requireMore();
  };
  const failed = async (error: unknown): Promise<void> => {
    if (phase === "connecting") return attempts.failed(error);
    if (phase === "exhausted" || onError === undefined) throw error;
    attempts.obey(error);
    await onError(error);
    return attempts.requireMore();
  };
  await loop({
    run: connectAndUse,
    onError: failed,
    manager: attempts,
    sliding: false,
    signal,
  });
}
