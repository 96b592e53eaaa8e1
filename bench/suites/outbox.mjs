import { randomUUID } from "node:crypto";
import { stopwatch } from "../measure.mjs";

const OUTBOX = "../../packages/examples/dist/outbox";

/** How many messages are saved at once, and how many are sent at once. */
const WORKERS = 10;

/** A PostgreSQL inside the process, in its memory. */
async function embedded() {
  const { PGlite } = await import("@electric-sql/pglite");
  const { PGliteDatabase } = await import(`${OUTBOX}/database/pglite-database.js`);
  return { database: new PGliteDatabase(await PGlite.create()), isNew: true };
}

/** A database of its own on the server that `openServer` has found. */
async function onServer(name = randomUUID()) {
  const { default: pg } = await import("pg");
  const { PgDatabase } = await import(`${OUTBOX}/database/pg-database.js`);
  const url = new URL(process.env.HOLDFAST_BENCH_POSTGRES);
  const database = `${process.env.HOLDFAST_BENCH_PREFIX}${name}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [database]);
  const isNew = rowCount === 0;
  if (isNew) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(database)}`);
  await client.end();
  url.pathname = `/${database}`;
  const pool = new pg.Pool({ connectionString: url.href, max: 2 * WORKERS });
  return { database: new PgDatabase(pool), isNew };
}

const publisher = {
  published: 0,
  async publish() {
    this.published++;
  },
  async [Symbol.asyncDispose]() {},
};

/** A sample: so many business changes, each with a message that is then sent. */
function sending(open, start) {
  return async (count) => {
    const { database } = await open();
    await database.query("CREATE TABLE payment (id uuid PRIMARY KEY, amount integer NOT NULL)");
    return sample(count, await start(database));
  };
}

function sample(count, send) {
  return async () => {
    publisher.published = 0;
    const lap = stopwatch();
    const began = performance.now();
    const sent = await send(count);
    const wall = performance.now() - began;
    const cpu = lap();
    if (sent !== count || publisher.published !== count)
      throw new Error(`${sent} marked, ${publisher.published} of ${count} published`);
    return { "wall µs/message": (wall * 1_000) / count, "µs/message": cpu / 1_000 / count };
  };
}

/**
 * Calls a function so often, some calls at once. The event loop turns between them, as it does where
 * requests come in: PGlite answers without that, and timers and everybody else would have to wait.
 */
async function times(count, atOnce, work) {
  let left = count;
  const loop = async () => {
    while (left-- > 0) {
      await work();
      await new Promise(setImmediate);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
}

const insertPayment = (tx) => tx.query("INSERT INTO payment VALUES ($1, 12)", [randomUUID()]);

const CONTENT = { order: 4_711, paid: 12.5, currency: "EUR", customer: "c-1234567" };

/** What one writes by hand: nothing finds a message again that a crash leaves behind. */
function bareLoop(atOnce) {
  return async (database) => {
    await database.query(
      "CREATE TABLE message (id uuid PRIMARY KEY, content text NOT NULL, sent boolean NOT NULL)",
    );
    return async (count) => {
      let sent = 0;
      await times(count, atOnce, async () => {
        const id = randomUUID();
        await database.transaction(async (tx) => {
          await insertPayment(tx);
          const params = [id, JSON.stringify(CONTENT)];
          await tx.query("INSERT INTO message VALUES ($1, $2, false)", params);
        });
        await publisher.publish();
        const rows = await database.query(
          "UPDATE message SET sent = true WHERE id = $1 RETURNING id",
          [id],
        );
        sent += rows.length;
      });
      return sent;
    };
  };
}

const MESSAGE = {
  creator: "shop",
  businessModule: "orders",
  businessKey: "4711",
  route: { exchange: "shop", queue: "paid", routingKey: "orders.paid" },
  content: CONTENT,
};

async function outboxIn(database) {
  const { migrate } = await import(`${OUTBOX}/database/migrate.js`);
  const { PostgresStore } = await import(`${OUTBOX}/store/postgres-store.js`);
  await migrate(database);
  return await startRelay({
    store: new PostgresStore(database),
    transaction: (work) => database.transaction(work),
    change: insertPayment,
  });
}

/** What is left without a database: the outbox and the relay themselves. */
async function outboxInMemory(count) {
  const { MemoryStore } = await import(`${OUTBOX}/store/memory-store.js`);
  const store = new MemoryStore();
  const transaction = (work) => store.transaction(work);
  return sample(count, await startRelay({ store, transaction, change: async () => {} }));
}

async function startRelay({ store, transaction, change }) {
  const { Outbox } = await import(`${OUTBOX}/outbox.js`);
  const { Relay } = await import(`${OUTBOX}/relay/relay.js`);
  let sent = 0;
  let wanted;
  let finish;
  let fail;
  const onEvent = ({ type, error }) => {
    if (type !== "published") fail(new Error(`${type}: ${error}`));
    else if (++sent === wanted) finish();
  };
  const relay = new Relay({ name: "bench", store, publisher, workers: WORKERS, onEvent });
  const outbox = new Outbox({ store, transaction, onCommitted: (ids) => relay.saved(ids) });
  void relay.run(new AbortController().signal);
  return async (count) => {
    sent = 0;
    wanted = count;
    const finished = new Promise((resolve, reject) => {
      finish = resolve;
      fail = reject;
    });
    await times(count, WORKERS, () =>
      outbox.transaction(async (tx) => {
        await change(tx);
        await outbox.save(tx, MESSAGE);
      }),
    );
    await finished;
    return sent;
  };
}

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
async function fill(database, { count, status, due }) {
  await database.query(
    `WITH message AS (
       INSERT INTO outbox_message (id, create_time, edit_time, creator, editor, message_status,
         next_schedule_time, queue_name, exchange_name, routing_key, business_module, business_key)
       SELECT gen_random_uuid(), now(), now(), 'shop', 'shop', $2, ${due}, 'paid', 'shop',
         'orders.paid', 'orders', n::text
       FROM generate_series(1, $1::integer) n
       RETURNING id
     )
     INSERT INTO outbox_content SELECT id, $3 FROM message`,
    [count, status, JSON.stringify(CONTENT)],
  );
}

/** How many messages are due while the others wait. */
const DUE = 100;

async function load(database, { waiting, sent }) {
  const indexes = await database.query(
    "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'outbox_message' AND indexname <> 'outbox_message_pkey'",
  );
  for (const statement of BARE) await database.query(statement);
  for (const { indexname } of indexes) await database.query(`DROP INDEX ${indexname}`);
  const later = "now() + interval '1 day' + n * interval '100 ms'";
  await fill(database, { count: waiting, status: "pending", due: later });
  const before = "now() - interval '1 day' + n * interval '1 s'";
  await fill(database, { count: DUE, status: "pending", due: before });
  await fill(database, { count: sent, status: "success", due: "NULL" });
  for (const statement of WHOLE) await database.query(statement);
  for (const { indexdef } of indexes) await database.query(indexdef);
  await database.query("VACUUM ANALYZE");
}

/** A sample: ten of a hundred that are due, claimed and given back; when the next one is due. */
function asking(open, rowsOf) {
  return async (size) => {
    const { PostgresStore } = await import(`${OUTBOX}/store/postgres-store.js`);
    const { migrate } = await import(`${OUTBOX}/database/migrate.js`);
    const rows = rowsOf(size);
    const { database, isNew } = await open(`${rows.waiting}_${rows.sent}`);
    if (isNew) {
      await migrate(database);
      await load(database, rows);
    }
    const store = new PostgresStore(database);
    return async () => {
      const now = Date.now();
      const claimed = await timed(() =>
        store.claimDue({ worker: "bench", now, until: now + 60_000 }, 10),
      );
      const { claims } = claimed.value;
      for (const claim of claims) await store.release(claim);
      const next = await timed(() => store.nextDue());
      if (claims.length !== 10 || !(next.value < now)) throw new Error("not what is due");
      return { "claimDue, wall µs": claimed.wall, "nextDue, wall µs": next.wall };
    };
  };
}

async function timed(work) {
  const began = performance.now();
  const value = await work();
  return { value, wall: (performance.now() - began) * 1_000 };
}

const SENDERS = {
  "bare loop, one after another": bareLoop(1),
  [`bare loop, ${WORKERS} at once`]: bareLoop(WORKERS),
  "outbox and relay": outboxIn,
};
const on = (open) =>
  Object.fromEntries(Object.entries(SENDERS).map(([name, start]) => [name, sending(open, start)]));

const WAITING = (waiting) => ({ waiting, sent: 0 });
const SENT = (sent) => ({ waiting: 10_000, sent });
const ASKED = { samples: 50, milliseconds: 0 };

export const outbox = {
  id: "i",
  title: "Transactional outbox",
  cases: [
    {
      id: "memory",
      rounds: 3,
      title: "no database: saved, sent and marked",
      sizes: [5_000],
      quickSizes: [100],
      samples: 5,
      milliseconds: 0,
      unit: "messages",
      contenders: { "outbox and relay": outboxInMemory },
    },
    {
      id: "embedded",
      title: "PGlite in the process: saved, sent and marked",
      sizes: [500],
      quickSizes: [20],
      samples: 3,
      milliseconds: 0,
      rounds: 3,
      unit: "messages",
      contenders: on(embedded),
    },
    {
      id: "server",
      rounds: 3,
      title: "a PostgreSQL server: saved, sent and marked",
      needs: () => "PostgreSQL",
      sizes: [1_000],
      quickSizes: [20],
      samples: 4,
      milliseconds: 0,
      unit: "messages",
      contenders: on(onServer),
    },
    {
      ...ASKED,
      id: "due embedded",
      title: "PGlite in the process: ten of a hundred due ones",
      sizes: [10_000, 100_000, 1_000_000],
      quickSizes: [1_000],
      rounds: 1,
      unit: "that wait",
      contenders: { "the store": asking(embedded, WAITING) },
    },
    {
      ...ASKED,
      id: "due",
      rounds: 3,
      title: "a PostgreSQL server: ten of a hundred due ones",
      needs: () => "PostgreSQL",
      sizes: [10_000, 100_000, 1_000_000],
      quickSizes: [1_000],
      unit: "that wait",
      contenders: { "the store": asking(onServer, WAITING) },
    },
    {
      ...ASKED,
      id: "sent",
      rounds: 3,
      title: "the same, 10,000 that wait",
      needs: () => "PostgreSQL",
      sizes: [1_000_000],
      quickSizes: [1_000],
      unit: "sent before",
      contenders: { "the store": asking(onServer, SENT) },
    },
  ],
};
