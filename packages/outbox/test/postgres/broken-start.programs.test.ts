import { PgDatabase } from "@holdfast/outbox/postgres";
import pg from "pg";
import { expect, it } from "vitest";
import { brokenPostgres } from "../../../../test/broken-start.ts";
import { collectUncaught } from "../../../../test/uncaught.ts";

const { signal } = new AbortController();

it.each<[string, (database: PgDatabase) => Promise<unknown>]>([
  ["query", (database) => database.query("SELECT 1")],
  ["a query that a signal can end", (database) => database.query("SELECT 1", [], signal)],
  ["transaction", (database) => database.transaction((tx) => tx.query("SELECT 1"))],
  ["readCommitted", (database) => database.readCommitted((tx) => tx.query("SELECT 1"))],
  ["listen", (database) => database.listen("a", () => undefined, signal)],
])(
  "%s rejects if a connection breaks together with its start, and ends no process",
  async (_, use) => {
    await using server = await brokenPostgres();
    using uncaught = collectUncaught();
    await using database = new PgDatabase(new pg.Pool({ connectionString: server.url }));
    await expect(use(database)).rejects.toThrow(/connection/i);
    expect(uncaught.errors).toEqual([]);
  },
);
