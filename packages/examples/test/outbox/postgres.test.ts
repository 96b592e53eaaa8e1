import { PGliteDatabase } from "../../src/outbox/database/pglite-database.ts";
import { emptyPGlite } from "./empty-pglite.ts";
import { testPostgres } from "./postgres.contract.ts";

testPostgres("PGlite", async () => new PGliteDatabase(await emptyPGlite()));
