import { type MySqlDatabase, migrate } from "@holdfast/outbox/mysql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { statementsOf } from "../../src/mysql/statements.ts";
import { idOf } from "../sample.ts";
import { connectToMySql } from "./connect-to-mysql.ts";

const T = 1_700_000_000_000;
const IDS = Array.from({ length: 8 }, (_, i) => idOf(i));
const SEQUENCES = IDS.map((_, i) => i + 1);
const sql = statementsOf("outbox_", "none");
const ordered = statementsOf("outbox_", "key");

/** Each reads a part of one index, its own; in order, also the first message of each key. */
const DUE = ["<derived2> ALL null filesort", "<derived3> ALL null filesort"];
const HEAD = "b ref message_key";
const PRIMARY = ["outbox_message range PRIMARY"];
const STATUS = ["outbox_message range message_status"];
const COUNTED = ["<derived2>", "<derived4>", "<derived6>"].map((table) => `${table} ALL null`);
const look = { by: "priority, due_at", until: T, limit: 100 } as const;
const ALL = [{ priority: 0 }] as const;

const page = { topic: false, after: false, limit: 100 };
const queries: [string, string, unknown[], string[]][] = [
  ["due", sql.due(ALL, look), [], [...DUE, "outbox_message range message_due"]],
  [
    "due of a topic",
    sql.due([{ priority: 0, topic: "a" }], look),
    [],
    [...DUE, "outbox_message range message_topic"],
  ],
  ["attempted", sql.due(["retrying"], look), [], [...DUE, "outbox_message range message_again"]],
  ["expired", sql.due(["expired"], look), [], [...DUE, "outbox_message range message_again"]],
  [
    "due in order",
    ordered.due(ALL, look),
    [],
    [
      ...["<derived3> ALL null filesort", "<derived4> ALL null filesort"],
      ...["outbox_message range message_due", HEAD],
    ],
  ],
  ["topics", sql.topics, [], ["outbox_message range message_topic"]],
  [
    "first of keys",
    ordered.firstOfKeys("", look),
    [],
    [
      ...["<derived2> ALL null", "m eq_ref PRIMARY"],
      ...[HEAD, "outbox_message range message_fresh"],
    ],
  ],
  ["locks of those due", sql.lockDue(SEQUENCES, look), [], PRIMARY],
  ["expired claims", sql.expired(T, 100), [], ["m range message_claimed"]],
  ["a claim", sql.lockClaims(1), [idOf(1)], ["outbox_message const message_id"]],
  ["claims", sql.lockClaims(8), IDS, ["outbox_message range message_id"]],
  ["delivered", sql.deliver(8), [T, ...SEQUENCES], PRIMARY],
  ["delivered long ago", sql.lockDelivered(T, 10), [], STATUS],
  ["dead", sql.findDead("all"), [], ["outbox_message ref message_status filesort"]],
  ["dead of a topic", sql.findDead("topic"), [""], ["outbox_message ref message_status filesort"]],
  ["some of the dead", sql.findDead({ ids: 8 }), IDS, ["outbox_message range message_id filesort"]],
  ["locks of the dead", sql.lockDead(8), SEQUENCES, PRIMARY],
  ["dead letters", sql.deadLetters(page), [], ["m ref message_status filesort"]],
  ["removed", sql.remove(8), SEQUENCES, PRIMARY],
  ["oldest", sql.oldest, [], ["outbox_message ref message_open_since"]],
  [
    "activity",
    sql.activity(T),
    [],
    [
      "<derived2> ALL null filesort",
      "outbox_message range message_status",
      ...["dead", "retrying", "pending"].map(() => "outbox_message ref message_status"),
    ],
  ],
  [
    "backlog",
    sql.backlog,
    [],
    COUNTED.flatMap((table) => [table, "outbox_message ref message_status"]),
  ],
];

let database: MySqlDatabase;

/** How a statement gets to the rows of each table, and that it sorts none. */
async function accessOf(text: string, params: readonly unknown[]): Promise<string[]> {
  const lines = await database.query(`EXPLAIN ${text}`, params);
  return lines.map(({ table, type, key, Extra }) => {
    const sorts = String(Extra).includes("filesort") ? " filesort" : "";
    return `${table} ${type} ${key}${sorts}`;
  });
}

/** Ten thousand numbers, from 0. */
const DIGITS = `(${Array.from({ length: 10 }, (_, i) => `SELECT ${i} AS d`).join(" UNION ALL ")})`;
const NUMBERS = `
  (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS seq
   FROM ${DIGITS} a, ${DIGITS} b, ${DIGITS} c, ${DIGITS} e)`;

async function fill(): Promise<void> {
  await database.query(`
    INSERT INTO outbox_message (id, created_at, updated_at, status, due_at, topic, \`key\`, headers, payload,
      claimed_by, claimed_until)
    SELECT CASE seq WHEN 1 THEN '${idOf(1)}' ELSE UUID() END, ${T}, ${T} + seq,
      CASE WHEN seq % 100 < 2 THEN 'pending' WHEN seq % 100 = 2 THEN 'dead' ELSE 'delivered' END,
      CASE WHEN seq % 100 < 2 THEN ${T} + seq END, '', seq % 50, '{}', '{}',
      CASE WHEN seq % 100 = 1 THEN 'a' END, CASE WHEN seq % 100 = 1 THEN ${T} + seq END
    FROM ${NUMBERS} AS numbers`);
}

beforeAll(async () => {
  database = connectToMySql(await makeMySqlDatabase(requiredUrl("MYSQL_URL")));
  await migrate(database);
  // Delivered ones are most of the table, as they are in one that is some weeks old.
  await fill();
});

afterAll(() => database[Symbol.asyncDispose]());

describe.each(["as it is", "after ANALYZE TABLE"])("plans of a table %s", (state) => {
  beforeAll(async () => {
    if (state !== "as it is") await database.query("ANALYZE TABLE outbox_message");
  });

  it.each(queries)("%s: reads the index for the query", async (_, text, params, access) => {
    expect(await accessOf(text, params)).toEqual(access);
  });
});
