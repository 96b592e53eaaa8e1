import { CONTENT } from "./outbox-content.mjs";

/** What a table is loaded without, and gets afterwards: that takes a third of the time. */
const BARE = "ALTER TABLE outbox_message DROP CONSTRAINT outbox_message_pkey";
const WHOLE = "ALTER TABLE outbox_message ADD PRIMARY KEY (id)";

/** Saves many messages at once. `at` is SQL for when the n-th is due. */
async function fill(database, { count, status, at }) {
  await database.query(
    `INSERT INTO outbox_message (id, topic, key, payload, status, created_at, updated_at, due_at)
     SELECT gen_random_uuid(), 'orders.paid', n::text, $3, $2, now(), now(), ${at}
     FROM generate_series(1, $1::integer) n`,
    [count, status, JSON.stringify(CONTENT)],
  );
}

/** Fills the tables of an outbox: some messages are due, others wait, others were sent. */
export async function loadPostgres(database, { waiting, due, sent }) {
  const indexes = await database.query(
    "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'outbox_message' AND indexname <> 'outbox_message_pkey'",
  );
  await database.query(BARE);
  for (const { indexname } of indexes) await database.query(`DROP INDEX ${indexname}`);
  const later = "now() + interval '1 day' + n * interval '100 ms'";
  await fill(database, { count: waiting, status: "pending", at: later });
  const before = "now() - interval '1 day' + n * interval '1 s'";
  await fill(database, { count: due, status: "pending", at: before });
  await fill(database, { count: sent, status: "delivered", at: "NULL" });
  await database.query(WHOLE);
  for (const { indexdef } of indexes) await database.query(indexdef);
  await database.query("VACUUM ANALYZE");
}
