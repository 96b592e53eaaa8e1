import type { Database } from "@holdfast/outbox";
import { migrate } from "@holdfast/outbox/postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { statementsOf } from "../../src/postgres/statements.ts";
import { idOf } from "../sample.ts";

const T = 1_700_000_000_000;
const IDS = Array.from({ length: 10 }, (_, i) => idOf(i));
const sql = statementsOf("outbox_", "none");
const ordered = statementsOf("outbox_", "key");

const PRIMARY = ["outbox_message_pkey"];
const DUE = ["outbox_message_due", "outbox_message_pkey"];
const REMOVED = ["outbox_message_delivered", "outbox_message_pkey"];
const IN_ORDER = ["outbox_message_due", "outbox_message_key", "outbox_message_pkey"];
const NEXT_IN_ORDER = ["outbox_message_due", "outbox_message_key"];
/** Filters: topics, those left out, and whether a claim has expired. */
const EVERY = [null, [], null];
const SOME = [["a"], ["b"], false];
const none = IDS.map(() => null);
const OUTCOMES = [IDS, IDS.map(() => 1), IDS.map(() => "delivered"), IDS.map(() => T), none, none];

/** A name, a statement, its parameters, and the indexes that it reads. */
const queries: [string, string, unknown[], string[]][] = [
  ["due", sql.claim, ["a", T, T, 100, ...EVERY, null], DUE],
  ["due of some", sql.claim, ["a", T, T, 100, ...SOME, 1_000], DUE],
  ["next due", sql.nextDue, EVERY, ["outbox_message_due"]],
  ["next due of some", sql.nextDue, SOME, ["outbox_message_due"]],
  ["expired claims", sql.expired, [T, 100], ["outbox_message_claimed"]],
  ["outcomes", sql.write, OUTCOMES, PRIMARY],
  ["dead letters", sql.deadLetters, [null, null, null, 100], ["outbox_message_dead"]],
  ["replayed", sql.replay, [null, null, T], ["outbox_message_dead"]],
  ["delivered long ago", sql.removeDelivered, [T, 10], REMOVED],
  ["due in order", ordered.claim, ["a", T, T, 100, ...EVERY, null], IN_ORDER],
  ["next due in order", ordered.nextDue, EVERY, NEXT_IN_ORDER],
];

/**
 * The plans of the statements on a PostgreSQL.
 *
 * @param open - gives an empty database
 */
export function testPlans(name: string, open: () => Promise<Database>): void {
  describe(`plans on ${name}`, () => {
    let database: Database;

    beforeAll(async () => {
      database = await open();
      await migrate(database);
    }, 120_000);

    afterAll(() => database[Symbol.asyncDispose]());

    /** Delivered messages are most of the table, as in one that is some weeks old. */
    beforeEach(async () => {
      await database.query("TRUNCATE outbox_message");
      await database.query(`
        INSERT INTO outbox_message (id, created_at, updated_at, status, due_at, topic, key, payload)
        SELECT gen_random_uuid(), now(), now(),
          CASE WHEN n % 100 = 0 THEN 'pending' WHEN n % 100 = 1 THEN 'dead' ELSE 'delivered' END,
          CASE WHEN n % 100 = 0 THEN now() + n * interval '1 second' END, '', '', ''
        FROM generate_series(1, 10000) n`);
    });

    /** The indexes of the messages that a statement reads, or that it reads all of them. */
    const scansOf = async (text: string, params: unknown[]): Promise<string[]> => {
      const lines = await database.query(`EXPLAIN ${text}`, params);
      const plan = lines.map((line) => String(line["QUERY PLAN"])).join("\n");
      const found = plan.match(
        /Seq Scan on outbox_message|(?<=(using|Scan on) )outbox_message_\w+/g,
      );
      return [...new Set(found)];
    };

    const expectScans = async (asked: typeof queries): Promise<void> => {
      const scans = asked.map(async ([query, text, params]) => [
        query,
        await scansOf(text, params),
      ]);
      expect(await Promise.all(scans)).toEqual(asked.map(([query, , , scan]) => [query, scan]));
    };

    it("read the index for the query, and nothing else of the table", async () => {
      await database.query("ANALYZE outbox_message");
      await expectScans(queries);
    });

    it("do not read all waiting messages to find a few, even if the table was never analyzed", async () => {
      const seen = ["due", "outcomes"];
      await expectScans(queries.filter(([query]) => seen.includes(query)));
    });
  });
}
