import { CONTENT } from "./outbox-content.mjs";

/** What a table is loaded without, and gets afterwards: that takes a third of the time. */
const BARE = "ALTER TABLE outbox_message DROP CONSTRAINT outbox_message_pkey";
const WHOLE = "ALTER TABLE outbox_message ADD PRIMARY KEY (id)";

/** Saves many messages at once. */
async function fill(database, { count, status, topic, keys = count, start, step }) {
  const at = start === undefined ? "NULL" : `now() + (${start} + n * ${step}) * interval '1 ms'`;
  await database.query(
    `INSERT INTO outbox_message
       (id, topic, key, payload, status, failed_attempts, created_at, updated_at, due_at)
     SELECT gen_random_uuid(), $4, (n % ${keys})::text, $3, $2, ${status === "retrying" ? 1 : 0}, now(), now(), ${at}
     FROM generate_series(1, $1::integer) n`,
    [count, status, JSON.stringify(CONTENT), topic],
  );
}

/** Fills the tables of an outbox. */
export async function loadPostgres(database, batches) {
  await loaded(database, async () => {
    for (const batch of batches) await fill(database, batch);
  });
}

/** Takes the indexes off the messages while they are loaded. */
export async function loaded(database, load) {
  const indexes = await database.query(
    "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'outbox_message' AND indexname <> 'outbox_message_pkey'",
  );
  await database.query(BARE);
  for (const { indexname } of indexes) await database.query(`DROP INDEX ${indexname}`);
  await load();
  await database.query(WHOLE);
  for (const { indexdef } of indexes) await database.query(indexdef);
  await database.query("VACUUM ANALYZE");
}
