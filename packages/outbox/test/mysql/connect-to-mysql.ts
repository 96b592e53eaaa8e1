import { MySqlDatabase } from "@holdfast/outbox/mysql";
import { createPool, type PoolOptions } from "mysql2/promise";

/** A pool of connections to a database. */
export function connectToMySql(url: string, options: PoolOptions = {}): MySqlDatabase {
  return new MySqlDatabase(createPool({ uri: url, connectionLimit: 20, ...options }));
}
