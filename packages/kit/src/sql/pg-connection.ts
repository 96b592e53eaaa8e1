import { deferred } from "../deferred.ts";
import type { Within } from "./within.ts";

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

/** The part of a `pg.Client` that {@link cancelRequest} uses. */
interface Connection {
  readonly processID: unknown;
  readonly secretKey: unknown;
  on(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
  end(): Promise<void>;
  /** False once it is broken: nothing is heard of its request. */
  readonly _queryable?: boolean;
}

/** Events of a connection that has no request under way. */
const ANSWERS = ["drain", "end", "error"];

/** How often the server is asked, how long to connect for that, and how long to wait for the effect, in milliseconds. */
const CANCEL = { attempts: 3, connect: 3_000, wait: 1_000 };

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
 * Asks the server to end the request under way of a connection that is about to be closed, and waits until it has. The
 * server does not notice the end of a connection whose request waits for a lock or for a standby: without this, each of
 * them would stay, and a pool would have more and more of them.
 *
 * The request needs no free connection and no rights. It reaches the right request through PgBouncer too.
 *
 * @param options - the settings of the connection
 * @param within - `withTimeout` of `@holdfast/wait`, on which this package cannot stand
 * @returns a promise that never rejects; undefined for a connection that is none of `pg`
 */
export function cancelRequest(
  connection: object,
  options: object | undefined,
  within: Within,
): Promise<void> | undefined {
  const { processID, secretKey } = connection as Readonly<Record<string, unknown>>;
  if (!processID || !secretKey || options === undefined) return undefined;
  return cancel(connection as Connection, options, within).catch(() => {});
}

/** Cancels, and closes the connection: the pool, which opens another at once, does not wait until it is closed. */
async function cancel(connection: Connection, options: object, within: Within): Promise<void> {
  await cancelUntilAnswered(connection, options, within);
  await within(() => connection.end(), CANCEL.wait, { label: "end" });
}

/** A request to cancel that overtakes the request itself has no effect: another one follows. */
async function cancelUntilAnswered(
  connection: Connection,
  options: object,
  within: Within,
): Promise<void> {
  const { promise: answered, resolve: onAnswer } = deferred<void>();
  for (const event of ANSWERS) connection.on(event, onAnswer);
  try {
    for (let left = CANCEL.attempts; left > 0; left--) {
      const isSent = await sendCancel(connection, options);
      if (!isSent || connection._queryable === false) return;
      const isAnswered = await within(() => answered, CANCEL.wait, { label: "cancel" }).then(
        () => true,
        () => false,
      );
      if (isAnswered) return;
    }
  } finally {
    for (const event of ANSWERS) connection.off(event, onAnswer);
  }
}

/** Returns whether it has reached the server. */
async function sendCancel(connection: Connection, options: object): Promise<boolean> {
  const { processID, secretKey, constructor: Client } = connection;
  const { connectionTimeoutMillis } = options as { readonly connectionTimeoutMillis?: number };
  const canceller = new (Client as Canceller)({
    ...options,
    connectionTimeoutMillis: Math.min(connectionTimeoutMillis || CANCEL.connect, CANCEL.connect),
  });
  canceller.on("error", () => {});
  let isSent = false;
  // The driver does all that comes before: names, sockets, TLS, the limit of time. The server answers by hanging up.
  canceller.connection.startup = () => {
    canceller.connection.cancel(processID, secretKey);
    isSent = true;
  };
  await canceller.connect().catch(() => {});
  return isSent;
}
