import type { Pool, PoolClient } from "pg";
import type { Database, Queryable, Row } from "./database.ts";

/** A PostgreSQL server, through a pool of connections. */
export class PgDatabase implements Database {
  readonly #pool: Pool;

  /**
   * @param pool - is ended with this
   * @param onError - gets what breaks connections that nobody uses just now; the pool replaces them
   */
  constructor(pool: Pool, onError: (error: Error) => void = () => {}) {
    this.#pool = pool;
    pool.on("error", onError); // An error event without a listener ends the process.
  }

  async query(text: string, params: readonly unknown[] = []): Promise<readonly Row[]> {
    const { rows } = await this.#pool.query<Row>(text, [...params]);
    return rows;
  }

  async transaction<Value>(work: (tx: Queryable) => Promise<Value>): Promise<Value> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    const onBreak = (error: Error): void => {
      broken = error;
    };
    client.on("error", onBreak); // The pool does not listen while a connection is lent.
    try {
      return await inTransaction(client, work);
    } catch (error) {
      await client.query("ROLLBACK").catch((failure: Error) => {
        broken = failure;
      });
      throw error;
    } finally {
      client.off("error", onBreak);
      client.release(broken); // With an error, the connection is not used again.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
  }
}

async function inTransaction<Value>(
  client: PoolClient,
  work: (tx: Queryable) => Promise<Value>,
): Promise<Value> {
  await client.query("BEGIN");
  let state: "open" | "over" = "open";
  const query: Queryable["query"] = async (text, params = []) => {
    // The connection may be in another transaction by now.
    if (state === "over") throw new Error("the transaction is over");
    return (await client.query<Row>(text, [...params])).rows;
  };
  let value: Value;
  try {
    value = await work({ query });
  } finally {
    state = "over";
  }
  const { command } = await client.query("COMMIT");
  // PostgreSQL says so, and no more, if a statement had failed and nobody took notice.
  if (command !== "COMMIT") throw new Error("the transaction was rolled back: a statement failed");
  return value;
}
