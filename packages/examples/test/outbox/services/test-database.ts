import { randomUUID } from "node:crypto";
import pg from "pg";
import { PgDatabase } from "../../../src/outbox/database/pg-database.ts";

/** The URL of a new database on a server; whoever stops the server removes it. */
export async function makeDatabase(server: string): Promise<string> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const admin = new pg.Client(server);
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** A pool of connections to a database. A server that hangs is no reason to hang, too. */
export function connectTo(url: string): PgDatabase {
  return new PgDatabase(
    new pg.Pool({ connectionString: url, max: 20, connectionTimeoutMillis: 5_000 }),
  );
}
