/**
 * The outbox in PostgreSQL.
 *
 * @packageDocumentation
 */

export type { MigrateOptions } from "../store/migration.ts";
export { migrate } from "./migrate.ts";
export {
  type PgClient,
  PgDatabase,
  type PgNotification,
  type PgPool,
  type PgResult,
} from "./pg-database.ts";
export type { PostgresDatabase } from "./postgres-database.ts";
export { PostgresOutbox, type PostgresOutboxOptions } from "./postgres-outbox.ts";
export { PostgresStore, type PostgresStoreOptions } from "./postgres-store.ts";
