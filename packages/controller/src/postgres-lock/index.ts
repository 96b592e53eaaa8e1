/**
 * A leader election lock in PostgreSQL.
 *
 * @packageDocumentation
 */

export {
  createTableSql,
  type PostgresClient,
  PostgresLock,
  type PostgresLockOptions,
} from "./postgres-lock.ts";
