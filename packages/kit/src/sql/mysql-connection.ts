import type { Within } from "./within.ts";

/** Rows are objects, with values of the driver's own types, also if the options of the pool differ. */
export const READING = {
  rowsAsArray: false,
  nestTables: false,
  namedPlaceholders: false,
  typeCast: true,
} as const;

/** The bit of the server's status that says that statements outside of transactions commit. */
export const AUTOCOMMIT = 2;

/** Sets the level of the next transaction alone. The server refuses it inside a transaction, with this number. */
export const NEXT_READS_COMMITTED = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";
export const TRANSACTION_IS_OPEN = 1568;

export const DUPLICATE_ENTRY = 1062;

/** The number of an error of a server, which has answered. Those of the driver have none, and those of Node another one. */
export function mysqlNumberOf(error: unknown): number | undefined {
  const { errno } = (error ?? {}) as { readonly errno?: unknown };
  return typeof errno === "number" && errno >= 1_000 && errno < 10_000 ? errno : undefined;
}

/** How long it may take to ask the server, in milliseconds. */
const TIME = 3_000;

/** A connection of `mysql2` without promises, as far as {@link endRequest} uses it. */
interface RawConnection {
  readonly threadId: number;
  readonly config: object;
  readonly stream: { readonly localPort?: number };
  query(statement: object, onEnd: (error: unknown, rows: readonly object[]) => void): unknown;
  on(event: "error", listener: () => void): unknown;
  destroy(): void;
}

/** The class of a connection of a pool; without a pool, the connection belongs to none. */
type ConnectionClass = new (pool: undefined, options: { readonly config: object }) => RawConnection;

/**
 * Asks the server to end the request under way of a connection that is about to be closed. The server does not notice the end
 * of a connection whose request waits for the lock of a row: without this, each of them would stay, and a pool would have
 * more and more of them.
 *
 * Behind a proxy another connection may have the same number. The server must see one that comes from the port of this one.
 *
 * @param within - `withTimeout` of `@holdfast/wait`, on which this package cannot stand
 * @returns a promise that never rejects; undefined for a connection that is none of `mysql2`, or has no port
 */
export function endRequest(given: object, within: Within): Promise<void> | undefined {
  const { connection } = given as { readonly connection?: Partial<RawConnection> };
  const { threadId, config, stream } = connection ?? {};
  if (!threadId || config === undefined || stream?.localPort === undefined) return undefined;
  const found = connection as RawConnection;
  const port = stream.localPort; // Unknown once the connection has ended.
  const Connection = found.constructor as unknown as ConnectionClass;
  const killer = new Connection(undefined, { config });
  killer.on("error", () => {});
  return within(() => kill(killer, threadId, port), TIME, { label: "kill" })
    .catch(() => {})
    .finally(() => killer.destroy());
}

async function kill(killer: RawConnection, threadId: number, port: number): Promise<void> {
  const query = (sql: string): Promise<readonly object[]> =>
    new Promise((resolve, reject) => {
      killer.query({ sql, rowsAsArray: false, nestTables: false, typeCast: true }, (error, rows) =>
        error ? reject(error) : resolve(rows),
      );
    });
  const all = (await query("SHOW PROCESSLIST")) as readonly { Id: unknown; Host: unknown }[];
  const isThere = all.some(
    ({ Id: id, Host: host }) => Number(id) === threadId && String(host).endsWith(`:${port}`),
  );
  if (isThere) await query(`KILL QUERY ${threadId}`);
}
