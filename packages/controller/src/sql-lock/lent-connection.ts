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
  /** Closes it, so that the pool opens another. The error is that of its request. */
  close(connection: Connection, error: unknown): void;
}

/**
 * Runs a request on a connection of a pool, and closes the connection if the request fails or is aborted: its response
 * may still come, or its server may take no writes after a failover. The next request opens another, which may lead to
 * the new primary.
 */
export async function onLentConnection<Connection, Response>(
  { connect, release, close }: Lender<Connection>,
  request: (connection: Connection) => Promise<Response>,
  signal: AbortSignal,
): Promise<Response> {
  const connection = await abortable(connect, signal, release);
  try {
    const response = await abortable(() => request(connection), signal);
    release(connection);
    return response;
  } catch (error) {
    close(connection, error);
    throw error;
  }
}
