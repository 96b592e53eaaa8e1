/**
 * The outbox in PostgreSQL.
 *
 * @packageDocumentation
 */

export type { MigrateOptions, MigrationSqlOptions } from "../store/migration.ts";
export type { InSchema } from "./in-schema.ts";
export {
  migrate,
  migrationSql,
  type PostgresMigrateOptions,
  type PostgresMigrationSqlOptions,
} from "./migrate.ts";
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
