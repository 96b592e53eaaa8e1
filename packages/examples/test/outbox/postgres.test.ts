import { PGlite } from "@electric-sql/pglite";
import { PGliteDatabase } from "../../src/outbox/database/pglite-database.ts";
import { testPostgres } from "./postgres.contract.ts";

testPostgres("PGlite", async () => new PGliteDatabase(await PGlite.create()));
