import { randomUUID } from "node:crypto";
import { createConnection } from "mysql2/promise";

/** The URL of a new database on a server; whoever stops the server removes it. */
export async function makeMySqlDatabase(server: string): Promise<string> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const admin = await createConnection(server);
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
