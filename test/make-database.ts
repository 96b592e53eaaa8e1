import { randomUUID } from "node:crypto";
import pg from "pg";

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
