import { migrate, PgDatabase, PostgresStore } from "@holdfast/outbox/postgres";
import type { Queryable } from "@holdfast/outbox/store";
import pg from "pg";
import { makeDatabase } from "../../../../test/make-database.ts";
import { type ConnectedStore, connectedStore } from "./connected-store.ts";

/** A pool of connections to a database. A server that hangs must not hang the test. */
export function poolTo(url: string): pg.Pool {
  return new pg.Pool({ connectionString: url, max: 20, connectionTimeoutMillis: 5_000 });
}

export function connectTo(url: string): PgDatabase {
  return new PgDatabase(poolTo(url));
}

/** A new database with the tables of an outbox, and stores that are connected to it. */
export async function makeOutbox(server: string): Promise<() => ConnectedStore<Queryable>> {
  const url = await makeDatabase(server);
  await using database = connectTo(url);
  await migrate(database);
  return () => {
    const own = connectTo(url);
    return connectedStore(own, new PostgresStore(own));
  };
}
