/**
 * A leader election lock in MySQL 8 and MariaDB.
 *
 * @packageDocumentation
 */

export {
  createTableSql,
  type MySqlClient,
  MySqlLock,
  type MySqlLockOptions,
} from "./mysql-lock.ts";
