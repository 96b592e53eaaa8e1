import { CONTENT } from "./outbox-content.mjs";

/** What a table is loaded without, and gets afterwards: that takes a third of the time. */
const BARE = [
  "ALTER TABLE outbox_content DROP CONSTRAINT outbox_content_message_id_fkey",
  "ALTER TABLE outbox_content DROP CONSTRAINT outbox_content_pkey",
  "ALTER TABLE outbox_message DROP CONSTRAINT outbox_message_pkey",
];
const WHOLE = [
  "ALTER TABLE outbox_message ADD PRIMARY KEY (id)",
  "ALTER TABLE outbox_content ADD PRIMARY KEY (message_id)",
  "ALTER TABLE outbox_content ADD FOREIGN KEY (message_id) REFERENCES outbox_message ON DELETE CASCADE",
];

/** Saves many messages at once. `due` is SQL for when the n-th is due. */
async function fill(database, { count, status, at }) {
  await database.query(
    `WITH message AS (
       INSERT INTO outbox_message (id, create_time, edit_time, creator, editor, message_status,
         next_schedule_time, queue_name, exchange_name, routing_key, business_module, business_key)
       SELECT gen_random_uuid(), now(), now(), 'shop', 'shop', $2, ${at}, 'paid', 'shop',
         'orders.paid', 'orders', n::text
       FROM generate_series(1, $1::integer) n
       RETURNING id
     )
     INSERT INTO outbox_content SELECT id, $3 FROM message`,
    [count, status, JSON.stringify(CONTENT)],
  );
}

/** Fills the tables of an outbox: some messages are due, others wait, others were sent. */
export async function loadPostgres(database, { waiting, due, sent }) {
  const indexes = await database.query(
    "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'outbox_message' AND indexname <> 'outbox_message_pkey'",
  );
  for (const statement of BARE) await database.query(statement);
  for (const { indexname } of indexes) await database.query(`DROP INDEX ${indexname}`);
  const later = "now() + interval '1 day' + n * interval '100 ms'";
  await fill(database, { count: waiting, status: "pending", at: later });
  const before = "now() - interval '1 day' + n * interval '1 s'";
  await fill(database, { count: due, status: "pending", at: before });
  await fill(database, { count: sent, status: "success", at: "NULL" });
  for (const statement of WHOLE) await database.query(statement);
  for (const { indexdef } of indexes) await database.query(indexdef);
  await database.query("VACUUM ANALYZE");
}
