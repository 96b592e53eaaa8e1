import { randomUUID } from "node:crypto";
import { stopwatch } from "../measure.mjs";
import { CONTENT, HARMLESS } from "./outbox-content.mjs";
import { embedded, onMaria, onPostgres, WORKERS } from "./outbox-databases.mjs";
import { asking } from "./outbox-due.mjs";

const publisher = {
  published: 0,
  async publish() {
    this.published++;
  },
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
  topic: "orders.paid",
  key: "order/4711",
  payload: CONTENT,
};

async function outboxIn(database) {
  const { migrate, PostgresStore } = await import("@holdfast/outbox/postgres");
  await migrate(database);
  return await startRelay({
    store: new PostgresStore(database),
    transaction: (work) => database.transaction(work),
    change: insertPayment,
  });
}

/** What is left without a database: the outbox and the relay themselves. */
async function outboxInMemory(count) {
  const { MemoryStore } = await import("@holdfast/outbox/testing");
  const store = new MemoryStore();
  const transaction = (work) => store.transaction(work);
  return sample(count, await startRelay({ store, transaction, change: async () => {} }));
}

async function startRelay({ store, transaction, change }) {
  const { Outbox, Relay } = await import("@holdfast/outbox");
  let sent = 0;
  let wanted;
  let finish;
  let fail;
  const onEvent = ({ type, error }) => {
    if (type === "delivered" && ++sent === wanted) finish();
    if (type !== "delivered" && !HARMLESS.has(type)) fail(new Error(`${type}: ${error}`));
  };
  const relay = new Relay({ name: "bench", store, publisher, workers: WORKERS, onEvent });
  const outbox = new Outbox({ store, transaction, onCommitted: () => relay.wake() });
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

const SENDERS = {
  "bare loop, one after another": bareLoop(1),
  [`bare loop, ${WORKERS} at once`]: bareLoop(WORKERS),
  "outbox and relay": outboxIn,
};
const on = (open) =>
  Object.fromEntries(Object.entries(SENDERS).map(([name, start]) => [name, sending(open, start)]));

const ASKED = { samples: 20, milliseconds: 0 };
const GROWING = { sizes: [10_000, 100_000, 1_000_000], quickSizes: [1_000] };

/** The tables that grow, on a server. */
const growing = (table, unit) =>
  [
    ["PostgreSQL", "", onPostgres],
    ["MariaDB", " MariaDB", onMaria],
  ].map(([server, suffix, open]) => ({
    ...ASKED,
    ...GROWING,
    id: `${table}${suffix}`,
    rounds: 3,
    title: `${server}: the queries of a store, among messages`,
    needs: () => server,
    unit,
    contenders: { "the store": asking(open, table) },
  }));

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
      contenders: on(onPostgres),
    },
    {
      ...ASKED,
      ...GROWING,
      id: "due embedded",
      title: "PGlite in the process: the queries of a store, among messages",
      rounds: 1,
      unit: "that wait",
      contenders: { "the store": asking(embedded, "due") },
    },
    ...growing("due", "that wait"),
    ...growing("hung", "of a topic that hangs, due"),
    ...growing("keys", "of 1,000 a key, due"),
    {
      ...ASKED,
      id: "sent",
      rounds: 3,
      title: "PostgreSQL: the same, 10,000 that wait",
      needs: () => "PostgreSQL",
      sizes: [1_000_000],
      quickSizes: [1_000],
      unit: "sent before",
      contenders: { "the store": asking(onPostgres, "sent") },
    },
    {
      ...ASKED,
      id: "sent MariaDB",
      rounds: 3,
      title: "MariaDB: the same, 10,000 that wait",
      needs: () => "MariaDB",
      sizes: [1_000_000],
      quickSizes: [1_000],
      unit: "sent before",
      contenders: { "the store": asking(onMaria, "sent") },
    },
  ],
};
