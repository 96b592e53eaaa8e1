/** A class of `pg.Client`, as far as {@link cancelRequest} needs it. */
type Canceller = new (
  options: object,
) => {
  readonly connection: {
    startup: () => void;
    cancel(processID: unknown, secretKey: unknown): void;
  };
  connect(): Promise<unknown>;
  on(event: "error", listener: () => void): unknown;
};

/** Maximum time to connect for a request to cancel, in milliseconds. */
const CANCEL_TIMEOUT = 5_000;

/** Whether an error is a server's own, which has answered. Errors of the driver and of Node have no SQLSTATE. */
export function isOfServer(error: unknown): error is { readonly code: string } {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" && /^(?=.*\d)[0-9A-Z]{5}$/.test(code);
}

/**
 * What is wrong with a connection that another part of the program has given back inside a transaction: a COMMIT would
 * commit that work too, and without one this work would be lost. It must be closed.
 */
export function leftTransaction(connection: object): Error | undefined {
  const { getTransactionStatus } = connection as { getTransactionStatus?: () => unknown };
  const status = getTransactionStatus?.call(connection);
  if (status !== "T" && status !== "E") return undefined;
  return new Error(
    "the pool lent a connection inside a transaction that another part of the program has left open: it is closed, and that transaction rolled back. End each transaction before release()",
  );
}

/**
 * Asks the server to end the request under way of a connection that is about to be closed. The server does not notice
 * the end of a connection whose request waits for a lock or for a standby: without this, each of them would stay, and a
 * pool would have more and more of them.
 *
 * The request needs no free connection and no rights. It reaches the right request through PgBouncer too.
 *
 * @param options - the settings of the connection
 * @returns a promise that never rejects; undefined for a connection that is none of `pg`
 */
export function cancelRequest(
  connection: object,
  options: object | undefined,
): Promise<void> | undefined {
  const { processID, secretKey } = connection as Readonly<Record<string, unknown>>;
  if (!processID || !secretKey || options === undefined) return undefined;
  const { connectionTimeoutMillis } = options as { readonly connectionTimeoutMillis?: number };
  const cancel = async (): Promise<void> => {
    const canceller = new (connection.constructor as Canceller)({
      ...options,
      connectionTimeoutMillis: Math.min(connectionTimeoutMillis || CANCEL_TIMEOUT, CANCEL_TIMEOUT),
    });
    canceller.on("error", () => {});
    // The driver does all that comes before: names, sockets, TLS, the limit of time. The server answers by hanging up.
    canceller.connection.startup = () => canceller.connection.cancel(processID, secretKey);
    await canceller.connect();
  };
  return cancel().catch(() => {});
}
