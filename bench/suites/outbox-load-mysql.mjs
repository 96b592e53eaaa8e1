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
  const content = JSON.stringify(CONTENT);
  await database.query(`
    INSERT INTO outbox_message
      (id, topic, \`key\`, headers, payload, status, created_at, updated_at, due_at)
    SELECT UUID(), 'orders.paid', n, '{}', '${content}', '${status}', ${now}, ${now}, ${at}
    FROM ${numbers(count)}`);
}

/** The keys of the messages are made afterwards: that is faster. */
async function keysOf(database) {
  const [message] = await database.query("SHOW CREATE TABLE outbox_message");
  return message["Create Table"].match(/(?:UNIQUE )?KEY `.*\)/g) ?? [];
}

const nameOf = (definition) => /`\w+`/.exec(definition)[0];

/** Fills the tables of an outbox: some messages are due, others wait, others were sent. */
export async function loadMaria(database, { waiting, due, sent }) {
  const keys = await keysOf(database);
  const drops = keys.map((key) => `DROP KEY ${nameOf(key)}`);
  await database.query(`ALTER TABLE outbox_message ${drops.join(", ")}`);
  const now = Date.now();
  const later = `${now + 86_400_000} + n * 100`;
  await fill(database, { count: waiting, status: "pending", at: later });
  const before = `${now - 86_400_000} + n * 1000`;
  await fill(database, { count: due, status: "pending", at: before });
  await fill(database, { count: sent, status: "delivered", at: "NULL" });
  const adds = keys.map((key) => `ADD ${key}`);
  await database.query(`ALTER TABLE outbox_message ${adds.join(", ")}`);
  await database.query("ANALYZE TABLE outbox_message");
}
