import { PGliteDatabase } from "@holdfast/outbox/pglite";
import { emptyPGlite } from "../../../../test/empty-pglite.ts";
import { testOrder } from "../postgres/order.contract.ts";
import { testPostgres } from "../postgres/postgres.contract.ts";
import { testDrizzle } from "../query-layers/test-drizzle.ts";
import { testKysely } from "../query-layers/test-kysely.ts";
import { testPostgresJs } from "../query-layers/test-postgres-js.ts";
import { testGuide } from "./test-guide.ts";
import { testPGliteListening } from "./test-listening.ts";

// One PGlite for all: each worker that starts another compiles it anew, which takes more CPU than the tests.
testPostgres("PGlite", async () => new PGliteDatabase(await emptyPGlite()));
testOrder("PGlite", async () => new PGliteDatabase(await emptyPGlite()));
testPGliteListening();
testGuide();
testDrizzle();
testKysely();
testPostgresJs();
