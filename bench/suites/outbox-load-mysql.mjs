import { CONTENT } from "./outbox-content.mjs";

const DIGITS = `(${Array.from({ length: 10 }, (_, i) => `SELECT ${i} AS d`).join(" UNION ALL ")})`;

/** The numbers from 1 to `count`, which is at most a million. */
const numbers = (count) => `
  (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d + 100000 * g.d + 1 AS n
   FROM ${["a", "b", "c", "e", "f", "g"].map((name) => `${DIGITS} ${name}`).join(", ")}
   HAVING n <= ${count} ORDER BY n) AS numbers`;

/** Saves many messages at once. `at` is SQL for when the n-th is due. */
async function fill(database, { count, status, at }) {
  if (count === 0) return;
  const now = Date.now();
  await database.query(`
    INSERT INTO outbox_message (id, create_time, edit_time, creator, editor, message_status,
      next_schedule_time, queue_name, exchange_name, routing_key, business_module, business_key)
    SELECT UUID(), ${now}, ${now}, 'shop', 'shop', '${status}', ${at}, 'paid', 'shop',
      'orders.paid', 'orders', n
    FROM ${numbers(count)}`);
}

/** The keys of the messages and of their contents are made afterwards: that is faster. */
async function keysOf(database) {
  const [message] = await database.query("SHOW CREATE TABLE outbox_message");
  const [content] = await database.query("SHOW CREATE TABLE outbox_content");
  const lines = (table, pattern) => table["Create Table"].match(pattern) ?? [];
  return {
    keys: lines(message, /(?:UNIQUE )?KEY `.*\)/g),
    foreign: lines(content, /CONSTRAINT .* FOREIGN KEY .* ON DELETE CASCADE/g),
  };
}

const nameOf = (definition) => /`\w+`/.exec(definition)[0];

/** Fills the tables of an outbox: some messages are due, others wait, others were sent. */
export async function loadMaria(database, { waiting, due, sent }) {
  const { keys, foreign } = await keysOf(database);
  for (const each of foreign)
    await database.query(`ALTER TABLE outbox_content DROP FOREIGN KEY ${nameOf(each)}`);
  const drops = keys.map((key) => `DROP KEY ${nameOf(key)}`);
  await database.query(`ALTER TABLE outbox_message ${drops.join(", ")}`);
  const now = Date.now();
  const later = `${now + 86_400_000} + n * 100`;
  await fill(database, { count: waiting, status: "pending", at: later });
  const before = `${now - 86_400_000} + n * 1000`;
  await fill(database, { count: due, status: "pending", at: before });
  await fill(database, { count: sent, status: "success", at: "NULL" });
  await database.query(
    `INSERT INTO outbox_content SELECT id, '${JSON.stringify(CONTENT)}' FROM outbox_message ORDER BY id`,
  );
  const adds = keys.map((key) => `ADD ${key}`);
  await database.query(`ALTER TABLE outbox_message ${adds.join(", ")}`);
  for (const each of foreign) await database.query(`ALTER TABLE outbox_content ADD ${each}`);
  await database.query("ANALYZE TABLE outbox_message, outbox_content");
}
