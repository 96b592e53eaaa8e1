import { abortable } from "@holdfast/clock";

/** A connection that a pool has lent. */
export interface LentConnection {
  /** Its state is unknown: it is closed, and not used again. */
  fail(error: unknown): void;
  /** Gives it back, or closes it if it has failed. */
  release(): void;
}

/** Runs work on a connection until the signal aborts. The pool gets it back only if it is as good as before. */
export async function onLent<Connection extends LentConnection, Value>(
  lend: () => Promise<Connection>,
  work: (connection: Connection) => Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  const connection = await until(signal, lend, (late) => late.release());
  try {
    return await until(signal, () => work(connection));
  } catch (error) {
    if (signal?.aborted) connection.fail(error); // A request may be under way.
    throw error;
  } finally {
    connection.release();
  }
}

/** Without a signal nothing stands between the work and its caller. */
export function until<Value>(
  signal: AbortSignal | undefined,
  work: () => Promise<Value>,
  onLate?: (value: Value) => unknown,
): Promise<Value> {
  return signal === undefined ? work() : abortable(work, signal, onLate);
}
