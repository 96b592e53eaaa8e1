import { PGlite } from "@electric-sql/pglite";
import pg from "pg";
import { type Column, headOf, lineOf } from "../../../report/table.ts";
import type { Database } from "../../database/database.ts";
import { migrate } from "../../database/migrate.ts";
import { PgDatabase } from "../../database/pg-database.ts";
import { PGliteDatabase } from "../../database/pglite-database.ts";
import { inSchema, SCHEMA } from "../database/schema.ts";
import { servicesOf } from "../settings.ts";
import { measureDue, median } from "./due-query.ts";
import { bareRate, outboxRate } from "./throughput.ts";

const MESSAGES = 2_000;
const ROUNDS = 5;
const WAITING = [10_000, 100_000, 1_000_000];

interface RateRow {
  readonly database: string;
  readonly bare: number;
  readonly outbox: number;
}

interface DueRow {
  readonly database: string;
  readonly waiting: number;
  readonly claimDue: number;
  readonly nextDue: number;
}

const RATES: readonly Column<RateRow>[] = [
  { title: "database", width: 10, align: "left", cell: ({ database }) => database },
  { title: "bare /s", width: 8, cell: ({ bare }) => bare.toFixed(0) },
  { title: "outbox /s", width: 9, cell: ({ outbox }) => outbox.toFixed(0) },
  { title: "ratio", width: 6, cell: ({ bare, outbox }) => (bare / outbox).toFixed(2) },
];

const DUES: readonly Column<DueRow>[] = [
  { title: "database", width: 10, align: "left", cell: ({ database }) => database },
  { title: "waiting", width: 9, cell: ({ waiting }) => `${waiting}` },
  { title: "claim 20, ms", cell: ({ claimDue }) => claimDue.toFixed(2) },
  { title: "next due, ms", cell: ({ nextDue }) => nextDue.toFixed(2) },
];

const { databaseUrl } = servicesOf(process.env);
console.log(`${headOf(RATES)}   (${MESSAGES} messages, median of ${ROUNDS})`);
const due: DueRow[] = [];
await measure("PGlite", new PGliteDatabase(await PGlite.create()), []);
if (databaseUrl !== undefined) {
  const pool = new pg.Pool({ connectionString: inSchema(databaseUrl), max: 10 });
  const reset = [`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`, `CREATE SCHEMA ${SCHEMA}`];
  await measure("PostgreSQL", new PgDatabase(pool), reset);
}
console.log(`\n${headOf(DUES)}`);
for (const row of due) console.log(lineOf(DUES, row));

async function measure(name: string, opened: Database, reset: readonly string[]): Promise<void> {
  await using database = opened;
  for (const statement of reset) await database.query(statement);
  await migrate(database);
  await database.query("CREATE TABLE bench_order (number integer, sent boolean DEFAULT false)");
  await database.query("CREATE INDEX ON bench_order (number)");
  const rates: { readonly bare: number; readonly outbox: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await empty(database);
    const bare = await bareRate(MESSAGES, database);
    await empty(database);
    rates.push({ bare, outbox: await outboxRate(MESSAGES, database) });
  }
  const bare = median(rates.map((rate) => rate.bare));
  console.log(
    lineOf(RATES, { database: name, bare, outbox: median(rates.map((rate) => rate.outbox)) }),
  );
  for (const waiting of WAITING) {
    await empty(database);
    due.push({ database: name, waiting, ...(await measureDue(waiting, database)) });
  }
}

async function empty(database: Database): Promise<void> {
  await database.query("TRUNCATE bench_order, outbox_message, outbox_content");
}
