// A relay among very many messages that wait in PostgreSQL, while new ones come. Each has a number, in the order of its key.
import { PgDatabase, PostgresOutbox } from "@holdfast/outbox/postgres";
import pg from "pg";
import { PostgresServer } from "../../services/postgres.mjs";
import { loaded } from "../suites/outbox-load-postgres.mjs";
import { observe, Program, pause } from "./program.mjs";

/** Messages of a key that wait; messages of a save, and the rest after each, in milliseconds. */
const [EACH, BATCH, REST] = [50, 50, 250];

const LOAD = `INSERT INTO outbox_message (id, topic, key, payload, created_at, updated_at, due_at)
  SELECT gen_random_uuid(), 'orders', (n % $2)::text, '{"number":' || n || '}', now(), now(),
    now() - ($1 - n) * interval '1 ms'
  FROM generate_series(0, $1::bigint - 1) n`;

/** Numbers that wait, as ranges. */
const WAITING = `SELECT min(n)::float8 AS first, max(n)::float8 AS last FROM (
    SELECT n, n - row_number() OVER (ORDER BY n) AS island FROM (
      SELECT (payload::jsonb ->> 'number')::bigint AS n FROM outbox_message WHERE due_at IS NOT NULL) waiting
  ) numbered GROUP BY island`;

export async function relay({ minutes, objects: count, signal, keep }) {
  const server = await PostgresServer.start(signal, { fsync: "on", max_wal_size: "8GB" });
  keep(server);
  const { url } = server;
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  keep({ [Symbol.asyncDispose]: () => pool.end() });
  const database = new PgDatabase(pool);
  const outbox = new PostgresOutbox({ name: "soak", pool, order: "key" });
  await outbox.migrate();
  const keys = Math.ceil(count / EACH);
  await loaded(database, () => database.query(LOAD, [count, keys]));
  const env = { POSTGRES: url, COUNT: `${count}`, KEYS: `${keys}` };
  const program = new Program("relay-process.mjs", env);
  keep(program);
  const over = new AbortController();
  let saved = count;
  const saving = (async () => {
    while (await pause(REST, AbortSignal.any([over.signal, signal]))) {
      const messages = Array.from({ length: BATCH }, (_, i) => saved + i).map((number) => ({
        ...{ topic: "orders", key: `${number % keys}`, payload: { number } },
      }));
      await outbox.transaction((tx) => outbox.save(tx, messages));
      saved += BATCH;
    }
  })();
  const observed = await observe({ program, minutes, signal, more: () => ({ saved }) });
  over.abort();
  await saving;
  await program.ask("stop");
  const ranges = await database.query(WAITING);
  const { sent, cpu, ...bad } = await program.ask("verify", { ranges, saved });
  let last = { sent: 0, minute: 0 };
  for (const sample of observed.samples) {
    sample.rate = (sample.sent - last.sent) / (sample.minute - last.minute) / 60;
    last = sample;
  }
  return {
    ...observed,
    events: [],
    title: `A relay among ${count.toLocaleString("en-US")} messages that wait in PostgreSQL`,
    panels: [{ "messages sent in a second": ({ rate }) => rate }],
    figures: {
      messages: `${saved} saved, ${sent} sent, ${saved - sent} wait in ${ranges.length} ranges`,
      "sent in a second": (last.sent / last.minute / 60).toFixed(0),
      "CPU µs for each message": ((last.cpu * 1e6) / last.sent).toFixed(0),
    },
    problems: Object.entries(bad)
      .filter(([, messages]) => messages > 0)
      .map(([what, messages]) => `${what}: ${messages} messages`),
  };
}
