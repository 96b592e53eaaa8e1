import { migrate } from "@holdfast/outbox/postgres";
import type { Database } from "@holdfast/outbox/store";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ClaimStatements } from "../../src/postgres/claim-statements.ts";
import { statementsOf } from "../../src/postgres/statements.ts";
import { idOf } from "../sample.ts";

const T = 1_700_000_000_000;
const IDS = Array.from({ length: 10 }, (_, i) => idOf(i));
const sql = statementsOf("outbox_");
const claims = new ClaimStatements("outbox_message", "none");
const ordered = new ClaimStatements("outbox_message", "key");

const PRIMARY = ["outbox_message_pkey"];
const REMOVED = ["outbox_message_delivered", "outbox_message_pkey"];
const ALL = { topics: "all", hasExpired: false } as const;
const LISTED = { topics: "listed", hasExpired: false } as const;
const OTHERS = { topics: "others", hasExpired: false } as const;
const ALONE = { topics: "all", hasExpired: true } as const;
const ALONE_LISTED = { topics: "listed", hasExpired: true } as const;
const none = IDS.map(() => null);
const OUTCOMES = [IDS, IDS.map(() => 1), IDS.map(() => "delivered"), IDS.map(() => T), none, none];
const claimOf = (...lists: unknown[]): unknown[] => ["a", T, T, 100, null, ...lists];
const named = (...names: string[]): string[] => names.map((name) => `outbox_message_${name}`);

/** A name, a statement, its parameters, and the indexes that it reads. */
const queries: [string, string, unknown[], string[]][] = [
  ["due", claims.claim(ALL), claimOf(), named("due", "pkey")],
  ["due of some", claims.claim(LISTED), claimOf(["a"]), named("pkey", "topic")],
  ["due of the others", claims.claim(OTHERS), claimOf(["a"]), named("due", "pkey", "topic")],
  ["due alone", claims.claim(ALONE), claimOf(), named("alone", "pkey")],
  ["due alone of some", claims.claim(ALONE_LISTED), claimOf(["a"]), named("alone_topic", "pkey")],
  ["next due", claims.nextDue(ALL), [], named("due", "parked")],
  ["next due of some", claims.nextDue(LISTED), [["a"]], named("parked", "topic")],
  ["next due of the others", claims.nextDue(OTHERS), [["a"]], named("due", "parked", "topic")],
  ["next due alone", claims.nextDue(ALONE), [], named("alone", "parked")],
  ["expired claims", sql.expired, [T, 100], named("claimed")],
  ["outcomes", sql.write, OUTCOMES, PRIMARY],
  ["dead letters", sql.deadLetters, [null, null, null, 100], named("dead")],
  ["replayed", sql.replay, [null, null, T], named("dead")],
  ["delivered long ago", sql.removeDelivered, [T, 10], REMOVED],
  ["backlog", sql.backlog, [], named("alone_topic", "claimed", "dead", "parked", "topic")],
  ["oldest", sql.oldest, [], named("open_since")],
  ["activity", sql.activity, [T], named("dead", "delivered", "topic")],
  ["due in order", ordered.claim(ALL), claimOf(), named("due", "key", "pkey")],
  [
    "due of the others in order",
    ordered.claim(OTHERS),
    claimOf(["a"]),
    named("due", "key", "pkey", "topic"),
  ],
  ["next due in order", ordered.nextDue(ALL), [], named("due", "key", "parked")],
  ["parked", ordered.park(ALL), [T], named("due", "key", "pkey")],
  ["unparked", ordered.unpark(), [["a"]], named("key", "pkey")],
  ["checked", ordered.heal(), [""], named("key", "parked", "pkey")],
  ["cancelled", sql.cancel, [idOf(1)], [...PRIMARY, "outbox_once_message"]],
  ["keys whose time is over", sql.removeOnce, [T, 10], ["outbox_once_until"]],
  ["messages with unique keys", sql.holders, [["a", "b"]], ["outbox_once_pkey"]],
  ["unparked without an order", claims.unparkAll(), [], named("parked", "pkey")],
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
    });

    afterAll(() => database[Symbol.asyncDispose]());

    /** Delivered messages are most of the table, as in one that is some weeks old. */
    beforeEach(async () => {
      await database.query("TRUNCATE outbox_message, outbox_once");
      await database.query(`
        INSERT INTO outbox_once (kind, key, message_id, since, until)
        SELECT 'message', n, gen_random_uuid(), now(), now() FROM generate_series(1, 10000) n`);
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
        /Seq Scan on outbox_(message|once)|(?<=(using|Scan on) )outbox_(message|once)_\w+/g,
      );
      return [...new Set(found)].sort();
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

    it("are the same if the table was never analyzed", async () => {
      await expectScans(queries);
    });

    it("are the same if the table was analyzed when nothing was waiting", async () => {
      await database.query("CREATE TABLE kept AS TABLE outbox_message");
      await database.query("UPDATE outbox_message SET status = 'delivered', due_at = NULL");
      await database.query("ANALYZE outbox_message");
      await database.query(`
        UPDATE outbox_message m SET status = kept.status, due_at = kept.due_at
        FROM kept WHERE m.id = kept.id`);
      await database.query("DROP TABLE kept");
      await expectScans(queries);
    });

    it("are the same if the table was analyzed when many messages of few keys were due", async () => {
      await database.query("TRUNCATE outbox_message");
      await database.query(`
        INSERT INTO outbox_message (id, created_at, updated_at, due_at, topic, key, payload)
        SELECT gen_random_uuid(), now(), now(), now() - interval '1 day' + n * interval '1 ms', 'topic ' || n % 3,
          'key ' || n % 10, ''
        FROM generate_series(1, 30000) n`);
      await database.query("ANALYZE outbox_message");
      await expectScans(queries);
    });
  });
}
