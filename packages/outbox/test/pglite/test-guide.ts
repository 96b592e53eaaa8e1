import { readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { emptyPGlite } from "../../../../test/empty-pglite.ts";
import { PGliteDatabase } from "../../src/pglite/pglite-database.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { migrationsOf } from "../../src/postgres/migrations.ts";
import { PostgresStore } from "../../src/postgres/postgres-store.ts";
import type { Row } from "../../src/store/database.ts";
import { idOf, numberOf, sample } from "../sample.ts";

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
    }, 120_000);

    afterAll(() => database[Symbol.asyncDispose]());

    beforeEach(() => run(["DROP SCHEMA public CASCADE", "CREATE SCHEMA public"]));

    const run = async (statements: readonly string[] = []): Promise<void> => {
      for (const statement of statements) await database.query(statement);
    };

    /** The columns and indexes of the messages, by name. The default of a sequence has its name in it. */
    const schema = async (): Promise<(readonly Row[])[]> => [
      await database.query(`SELECT column_name, data_type, is_nullable,
        CASE WHEN column_name <> 'sequence' THEN column_default END AS column_default
      FROM information_schema.columns WHERE table_name = 'outbox_message' ORDER BY column_name`),
      await database.query(`SELECT indexname, indexdef FROM pg_indexes
      WHERE tablename = 'outbox_message' ORDER BY indexname`),
      await database.query(`SELECT conname FROM pg_constraint
      WHERE conrelid = 'outbox_message'::regclass AND contype = 'c' ORDER BY conname`),
      await database.query("SELECT number, name FROM outbox_migration ORDER BY number"),
    ];

    it("makes autovacuum run early", async () => {
      await migrate(database);
      const [settings] = sqlBelow("### PostgreSQL");
      await run(settings);
      const rows = await database.query(
        "SELECT unnest(reloptions) AS option FROM pg_class WHERE relname = 'outbox_message'",
      );
      expect(rows).toContainEqual({ option: "autovacuum_vacuum_scale_factor=0.01" });
    });

    it("migrates the tables of version 1 by hand to those of migrate()", async () => {
      await migrate(database);
      const wanted = await schema();
      await run(["DROP SCHEMA public CASCADE", "CREATE SCHEMA public"]);
      await database.query(
        "CREATE TABLE outbox_migration (number integer PRIMARY KEY, name text NOT NULL)",
      );
      for (const { number, name, statements } of migrationsOf("outbox_").slice(0, 2)) {
        await run(statements);
        await database.query("INSERT INTO outbox_migration VALUES ($1, $2)", [number, name]);
      }
      const insert = (number: number, status: string, age: string): Promise<unknown> =>
        database.query(
          `INSERT INTO outbox_message (id, create_time, edit_time, creator, editor, message_status,
          next_schedule_time, queue_name, exchange_name, routing_key, business_module, business_key)
        VALUES ($1, now() - $3::interval, now() - $3::interval, 'shop', 'shop', $2,
          CASE WHEN $2 = 'pending' THEN now() END, '', '', '', 'orders', '4711')`,
          [idOf(number), status, age],
        );
      await insert(1, "success", "8 days");
      await insert(2, "success", "1 day");
      await insert(3, "pending", "1 minute");
      await insert(4, "pending", "2 minutes");
      await database.query("INSERT INTO outbox_content SELECT id, '{}' FROM outbox_message");

      const [remove, columns, fill, indexes] = sqlBelow("### The tables of version 1");
      await run(remove);
      expect(await database.query("SELECT id FROM outbox_message")).toHaveLength(3);
      await run(columns);
      await run(fill);
      await run(indexes);

      expect(await migrate(database)).toEqual([]);
      expect(await schema()).toEqual(wanted);

      const store = new PostgresStore(database, { order: "businessKey" });
      const now = Date.now();
      const message = sample(5, { businessKey: "4711" });
      await database.transaction((tx) => store.save(tx, message, now));
      const seen: number[] = [];
      for (;;) {
        const request = { worker: "a", now: now + 20_000, until: now + 60_000 };
        const { claims } = await store.claimDue(request, 10);
        if (claims.length === 0) break;
        for (const claim of claims) {
          seen.push(numberOf(claim.message.id));
          await store.markSuccess(claim, now);
        }
      }
      expect(seen).toEqual([4, 3, 5]);
    });

    it("copies the unfinished messages of another table, once", async () => {
      await migrate(database);
      await database.query(`CREATE TABLE retry_message (
      id bigint PRIMARY KEY, create_time timestamp NOT NULL, edit_time timestamp NOT NULL, creator text NOT NULL,
      editor text NOT NULL, deleted boolean NOT NULL, current_retry_times integer NOT NULL,
      max_retry_times integer NOT NULL DEFAULT 5, next_schedule_time timestamp, message_status text NOT NULL,
      init_backoff integer NOT NULL DEFAULT 10, backoff_factor integer NOT NULL DEFAULT 2,
      queue_name text NOT NULL, exchange_name text NOT NULL, exchange_type text NOT NULL,
      routing_key text NOT NULL, business_module text NOT NULL, business_key text NOT NULL)`);
      await database.query(
        "CREATE TABLE retry_content (message_id bigint PRIMARY KEY, content text NOT NULL)",
      );
      const rows = ["pending:0", "fail:2", "fail:5", "success:1", "fail:7"];
      for (const [index, row] of rows.entries()) {
        const [status, retries] = row.split(":");
        await database.query(
          `INSERT INTO retry_message (id, create_time, edit_time, creator, editor, deleted, current_retry_times,
          next_schedule_time, message_status, queue_name, exchange_name, exchange_type, routing_key,
          business_module, business_key)
        VALUES ($1, now(), now(), 'shop', 'shop', false, $2, CASE WHEN $3 = 'pending' THEN now() END, $3,
          'paid', 'shop', 'direct', 'orders.paid', 'orders', $4)`,
          [index + 1, retries, status, `order-${index + 1}`],
        );
        await database.query("INSERT INTO retry_content VALUES ($1, $2)", [
          index + 1,
          JSON.stringify({ order: index + 1 }),
        ]);
      }

      const [copy] = sqlBelow("### A table of your own");
      await run(copy);
      await run(copy);

      const store = new PostgresStore(database);
      expect(await store.counts()).toEqual({ pending: 1, failed: 1, success: 0, dead: 2 });
      const request = { worker: "a", now: Date.now() + 1_000, until: Date.now() + 60_000 };
      const { claims, broken } = await store.claimDue(request, 10);
      expect(broken).toEqual([]);
      expect(
        claims.map(({ message }) => [message.businessKey, message.content, message.initBackoff]),
      ).toEqual([
        ["order-1", { order: 1 }, 10_000],
        ["order-2", { order: 2 }, 10_000],
      ]);
    });
  });
}
