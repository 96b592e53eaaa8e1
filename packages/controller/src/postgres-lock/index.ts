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
  type PostgresResult,
} from "./postgres-lock.ts";
