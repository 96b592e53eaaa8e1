import { PostgresLock } from "@holdfast/controller/postgres-lock";
import pg from "pg";
import { expect, it } from "vitest";
import { brokenPostgres } from "../../../../test/broken-start.ts";
import { collectUncaught } from "../../../../test/uncaught.ts";

it("a PostgresLock rejects if a connection breaks together with its start, and ends no process", async () => {
  await using server = await brokenPostgres();
  const pool = new pg.Pool({ connectionString: server.url });
  pool.on("error", () => undefined);
  using uncaught = collectUncaught();
  const lock = new PostgresLock(pool, { name: "a" });
  await expect(lock.get(new AbortController().signal)).rejects.toThrow(/connection/);
  await pool.end();
  expect(uncaught.errors).toEqual([]);
});
