/**
 * The outbox in MySQL 8 and MariaDB.
 *
 * @packageDocumentation
 */

export type { MigrateOptions, MigrationSqlOptions } from "../store/migration.ts";
export { migrate, migrationSql, type SessionDatabase } from "./migrate.ts";
export {
  type MySqlConnection,
  MySqlDatabase,
  type MySqlErrors,
  type MySqlPool,
  type MySqlRunner,
  type MySqlStatement,
} from "./mysql-database.ts";
export { MySqlOutbox, type MySqlOutboxOptions } from "./mysql-outbox.ts";
export { MySqlStore, type MySqlStoreOptions } from "./mysql-store.ts";
export type { ReadCommittedDatabase } from "./read-committed.ts";
