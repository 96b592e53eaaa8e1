import { abortable } from "@holdfast/clock/internal";

/** The events of a pool of `pg` or `mysql2`. A wrapper around one need not have them. */
export interface PoolEvents {
  on?(event: "acquire", listener: (connection: ConnectionEvents) => void): unknown;
  off?(event: "acquire", listener: (connection: ConnectionEvents) => void): unknown;
}

interface ConnectionEvents {
  on(event: "error", listener: () => void): unknown;
  off(event: "error", listener: () => void): unknown;
}

/** The request that is under way rejects, too. */
const ignore = (): void => {};

function listenToErrors(connection: ConnectionEvents): void {
  connection.off("error", ignore);
  connection.on("error", ignore);
}

/**
 * Listens for the errors of connections that are in use, which would end the process. It must happen before the pool
 * lends them: whoever awaits a connection has it one turn later, and one that breaks together with its start does so
 * before. The locks of a pool share the listener.
 */
export function keepFromCrashing(pool: PoolEvents): void {
  pool.off?.("acquire", listenToErrors);
  pool.on?.("acquire", listenToErrors);
}

/** How a pool lends a connection. */
export interface Lender<Connection> {
  connect(): Promise<Connection>;
  /** Gives it back. */
  release(connection: Connection): void;
  /** Takes back one whose request has failed or was aborted: closes it, if its state is unknown. */
  fail(connection: Connection, error: unknown): void;
}

/** Runs a request on a connection of a pool, until the signal aborts. */
export async function onLentConnection<Connection, Response>(
  { connect, release, fail }: Lender<Connection>,
  request: (connection: Connection) => Promise<Response>,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const connection = await until(signal, connect, release);
  try {
    const response = await until(signal, () => request(connection));
    release(connection);
    return response;
  } catch (error) {
    fail(connection, error);
    throw error;
  }
}

/** Without a signal nothing stands between the work and its caller. */
export function until<Value>(
  signal: AbortSignal | undefined,
  work: () => Promise<Value>,
  onLate: (value: Value) => unknown = ignore,
): Promise<Value> {
  return signal === undefined ? work() : abortable(work, signal, onLate);
}
