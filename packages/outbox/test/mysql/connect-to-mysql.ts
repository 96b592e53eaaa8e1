import { createPool, type PoolOptions } from "mysql2/promise";
import { MySqlDatabase } from "../../src/mysql/mysql-database.ts";

/** A pool of connections to a database. */
export function connectToMySql(url: string, options: PoolOptions = {}): MySqlDatabase {
  return new MySqlDatabase(createPool({ uri: url, connectionLimit: 20, ...options }));
}
