import { abortable } from "@holdfast/clock/internal";

/** How a pool lends a connection. */
export interface Lender<Connection> {
  connect(): Promise<Connection>;
  /** Gives it back. */
  release(connection: Connection): void;
  /** Closes it, so that the pool opens another. */
  close(connection: Connection): void;
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
    close(connection);
    throw error;
  }
}
