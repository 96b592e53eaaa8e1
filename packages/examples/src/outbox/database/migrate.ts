import type { Database, Queryable } from "./database.ts";
import { type Migration, migrations } from "./migrations.ts";

/** Any number that no other program locks in the same database. */
const LOCK = 7_305_120_553;

/**
 * Brings the schema up to date. Processes that start together wait for one another; each migration is
 * applied once, and all that are missing in one transaction.
 *
 * @returns the numbers of those that were applied now
 */
export async function migrate(database: Database): Promise<readonly number[]> {
  return await database.transaction(async (tx) => {
    await tx.query("SELECT pg_advisory_xact_lock($1::bigint)", [LOCK]);
    const applied = await appliedNumbers(tx);
    const missing = migrations.filter(({ number }) => !applied.has(number));
    for (const migration of missing) await apply(migration, tx);
    return missing.map(({ number }) => number);
  });
}

async function appliedNumbers(tx: Queryable): Promise<ReadonlySet<unknown>> {
  await tx.query(
    "CREATE TABLE IF NOT EXISTS outbox_migration (number integer PRIMARY KEY, name text NOT NULL)",
  );
  const rows = await tx.query("SELECT number FROM outbox_migration");
  return new Set(rows.map(({ number }) => number));
}

async function apply({ number, name, statements }: Migration, tx: Queryable): Promise<void> {
  for (const statement of statements) await tx.query(statement);
  await tx.query("INSERT INTO outbox_migration (number, name) VALUES ($1, $2)", [number, name]);
}
