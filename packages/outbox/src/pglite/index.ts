/**
 * The outbox in PGlite, PostgreSQL inside the process.
 *
 * @packageDocumentation
 */

export { PGliteDatabase, type PGliteLike, type PGliteTransaction } from "./pglite-database.ts";
export { PGliteOutbox, type PGliteOutboxOptions } from "./pglite-outbox.ts";
