import { CONTENT } from "./outbox-content.mjs";

const DIGITS = `(${Array.from({ length: 10 }, (_, i) => `SELECT ${i} AS d`).join(" UNION ALL ")})`;

/** The numbers from 1 to `count`, which is at most a million. */
const numbers = (count) => `
  (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d + 100000 * g.d + 1 AS n
   FROM ${["a", "b", "c", "e", "f", "g"].map((name) => `${DIGITS} ${name}`).join(", ")}
   HAVING n <= ${count} ORDER BY n) AS numbers`;

/** Saves many messages at once. */
async function fill(database, { count, status, topic, keys = count, start, step }) {
  const now = Date.now();
  const content = JSON.stringify(CONTENT);
  const at = start === undefined ? "NULL" : `${now + start} + n * ${step}`;
  await database.query(`
    INSERT INTO outbox_message
      (id, topic, \`key\`, headers, payload, status, failed_attempts, created_at, updated_at, due_at)
    SELECT UUID(), '${topic}', n % ${keys}, '{}', '${content}', '${status}',
      ${status === "retrying" ? 1 : 0}, ${now}, ${now}, ${at}
    FROM ${numbers(count)}`);
}

/** The keys of the messages are made afterwards: that is faster. */
async function keysOf(database) {
  const [message] = await database.query("SHOW CREATE TABLE outbox_message");
  return message["Create Table"].match(/(?:UNIQUE )?KEY `.*\)/g) ?? [];
}

const nameOf = (definition) => /`\w+`/.exec(definition)[0];

/** Fills the tables of an outbox. */
export async function loadMaria(database, batches) {
  const keys = await keysOf(database);
  const drops = keys.map((key) => `DROP KEY ${nameOf(key)}`);
  await database.query(`ALTER TABLE outbox_message ${drops.join(", ")}`);
  for (const batch of batches) await fill(database, batch);
  const adds = keys.map((key) => `ADD ${key}`);
  await database.query(`ALTER TABLE outbox_message ${adds.join(", ")}`);
  await database.query("ANALYZE TABLE outbox_message");
}
