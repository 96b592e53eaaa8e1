import { readFileSync } from "node:fs";
import { PGliteDatabase } from "@holdfast/outbox/pglite";
import { migrate, PostgresStore } from "@holdfast/outbox/postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { emptyPGlite } from "../../../../test/empty-pglite.ts";

const guide = readFileSync(new URL("../../../../docs/outbox.md", import.meta.url), "utf8");

/** The statements of the SQL blocks below a heading of the guide, block by block. */
function sqlBelow(heading: string): string[][] {
  const [, section = ""] = guide.split(`\n${heading}\n`);
  const [own = ""] = section.split(/\n##+ /);
  const blocks = [...own.matchAll(/```sql\n(.*?)```/gs)].map(([, block = ""]) => block);
  return blocks.map((block) =>
    block.split(/;\s*\n/).filter((statement) => statement.trim() !== ""),
  );
}

/** The SQL of the guide, on an empty database. */
export function testGuide(): void {
  describe("the SQL of the guide", () => {
    let database: PGliteDatabase;

    beforeAll(async () => {
      database = new PGliteDatabase(await emptyPGlite());
    });

    afterAll(() => database[Symbol.asyncDispose]());

    beforeEach(() => run(["DROP SCHEMA public CASCADE", "CREATE SCHEMA public"]));

    const run = async (statements: readonly string[] = []): Promise<void> => {
      for (const statement of statements) await database.query(statement);
    };

    it("makes autovacuum run early", async () => {
      await migrate(database);
      const [settings] = sqlBelow("### PostgreSQL");
      await run(settings);
      const rows = await database.query(
        "SELECT unnest(reloptions) AS option FROM pg_class WHERE relname = 'outbox_message'",
      );
      expect(rows).toContainEqual({ option: "autovacuum_vacuum_scale_factor=0.01" });
    });

    it("copies the unfinished messages of another table, once", async () => {
      await migrate(database);
      await database.query(`CREATE TABLE retry_message (
      id bigint PRIMARY KEY, create_time timestamp NOT NULL, edit_time timestamp NOT NULL,
      current_retry_times integer NOT NULL, max_retry_times integer NOT NULL DEFAULT 5,
      next_schedule_time timestamp, message_status text NOT NULL, init_backoff integer NOT NULL DEFAULT 10,
      backoff_factor integer NOT NULL DEFAULT 2, routing_key text NOT NULL, business_module text NOT NULL,
      business_key text NOT NULL)`);
      await database.query(
        "CREATE TABLE retry_content (message_id bigint PRIMARY KEY, content text NOT NULL)",
      );
      const rows = ["pending:0", "fail:2", "fail:5", "success:1", "fail:7"];
      for (const [index, row] of rows.entries()) {
        const [status, retries] = row.split(":");
        await database.query(
          `INSERT INTO retry_message (id, create_time, edit_time, current_retry_times, next_schedule_time,
          message_status, routing_key, business_module, business_key)
        VALUES ($1, now(), now(), $2, CASE WHEN $3 = 'pending' THEN now() END, $3,
          'orders.paid', 'orders', $4)`,
          [index + 1, retries, status, `${index + 1}`],
        );
        await database.query("INSERT INTO retry_content VALUES ($1, $2)", [
          index + 1,
          JSON.stringify({ order: index + 1 }),
        ]);
      }

      const [copy] = sqlBelow("## Migrating a table of your own");
      await run(copy);
      await run(copy);

      const store = new PostgresStore(database);
      expect(await store.counts()).toEqual({ pending: 1, retrying: 1, delivered: 0, dead: 2 });
      const now = Date.now() + 1_000;
      const { claims, invalid } = await store.claim({ relay: "a", now, until: now, limit: 10 });
      expect(invalid).toEqual([]);
      expect(
        claims.map(({ message: { topic, key, payload, backoff } }) => ({
          topic,
          key,
          payload,
          initialDelay: backoff.duration,
        })),
      ).toEqual(
        [1, 2].map((order) => ({
          topic: "orders.paid",
          key: `orders/${order}`,
          payload: { order },
          initialDelay: 20_000,
        })),
      );
    });
  });
}
