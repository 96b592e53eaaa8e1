export { PGliteDatabase, type PGliteLike, type PGliteTransaction } from "./pglite-database.ts";
