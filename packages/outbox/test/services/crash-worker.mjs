// A process of a shop that may be killed at any moment: it places the orders that its parent sends, each with its message
// in one transaction, sends messages to a webhook, and recovers those of others. It tells its parent which orders are
// placed. It consumes its messages by an inbox, and takes some of them back. Argument: its options as JSON, with the step at which it kills itself.
import { randomUUID } from "node:crypto";
import { PGlite } from "@electric-sql/pglite";
import { Manager, MemoryLock, silentLogger } from "@holdfast/controller";
import { MySqlLock } from "@holdfast/controller/mysql-lock";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import { Outbox, Recovery, Relay } from "@holdfast/outbox";
import { MySqlDatabase, MySqlStore } from "@holdfast/outbox/mysql";
import { PGliteDatabase } from "@holdfast/outbox/pglite";
import { PgDatabase, PostgresStore } from "@holdfast/outbox/postgres";
import { WebhookPublisher } from "@holdfast/outbox/webhook";
import { createPool } from "mysql2/promise";
import pg from "pg";

const { name, kind, url, target, schedule, crash } = JSON.parse(process.argv[2] ?? "{}");

let reached = 0;
/** Dies at a step when it gets there for the n-th time: no clean-up, no further instruction. */
function reach(step) {
  if (step !== crash?.step || ++reached < crash.count) return;
  process.kill(process.pid, "SIGKILL");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

async function open() {
  if (kind === "mysql") {
    const pool = createPool({ uri: url, connectionLimit: 4 });
    const database = new MySqlDatabase(pool);
    return { database, store: new MySqlStore(database), lock: new MySqlLock(pool, { name: "r" }) };
  }
  if (kind === "pglite") {
    const database = new PGliteDatabase(await PGlite.create(url));
    return { database, store: new PostgresStore(database), lock: new MemoryLock() };
  }
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  const database = new PgDatabase(pool);
  return {
    database,
    store: new PostgresStore(database),
    lock: new PostgresLock(pool, { name: "r" }),
  };
}

const { database, store, lock } = await open();
const write = store.write.bind(store);
store.write = async (outcomes, signal) => {
  for (const _ of outcomes) reach("before-mark");
  const written = await write(outcomes, signal);
  for (const _ of outcomes) reach("after-mark");
  return written;
};
const webhook = new WebhookPublisher({ url: target });
const publisher = {
  async publish(message, signal) {
    reach("before-publish");
    await webhook.publish(message, signal);
    await Promise.all([consume(message), consume(message)]);
    reach("after-publish");
  },
};
if (Number(name.at(-1)) % 2 === 1)
  publisher.publishMany = (messages, signal) =>
    Promise.allSettled(messages.map((message) => publisher.publish(message, signal)));
const common = { store, logger: silentLogger };
const relay = new Relay({
  ...common,
  name,
  publisher,
  workers: 8,
  batchSize: 4,
  breaker: { failures: 3, openFor: 300 },
  publishTimeout: 1_500,
  claimDuration: 8_000,
  clockSkew: 4_000, // the clock is the same, but a busy machine lets processes stand still
  pollInterval: 500,
  storeTimeout: 5_000,
});
const recovery = new Recovery({
  ...common,
  name: `${name}/recovery`,
  lock,
  interval: 1_000,
  acquireTimeout: 2_000,
  leaseDuration: 6_000,
  minRound: 500,
});
const outbox = new Outbox({
  store,
  transaction: async (work) => {
    const value = await database.transaction(work);
    reach("after-commit");
    return value;
  },
  onCommitted: () => relay.wake(),
});

class TakenBack extends Error {}
const [number, id] = kind === "mysql" ? ["?", "?"] : ["$1", "$2"];

/** A consumer with an inbox: two copies of each message arrive at the same time, and more after a crash. */
async function consume(message) {
  await outbox.once(`shop/${message.id}`, async (tx) => {
    await tx.query(`INSERT INTO shop_effect (message_id) VALUES (${number})`, [message.id]);
    reach("before-effect");
  });
}

/** Takes a message back, unless a relay has it, and says so in the same transaction. */
async function cancel(messageId) {
  await outbox.transaction(async (tx) => {
    if (await outbox.cancel(messageId, tx))
      await tx.query(`INSERT INTO shop_cancelled (message_id) VALUES (${number})`, [messageId]);
    reach("before-cancel");
  });
  reach("after-cancel");
}

async function place({ order, isTakenBack, isCancelled }) {
  const messageId = randomUUID();
  const work = async (tx) => {
    await tx.query(`INSERT INTO shop_order (number, message_id) VALUES (${number}, ${id})`, [
      order,
      messageId,
    ]);
    const message = {
      id: messageId,
      topic: `orders.${order % 3}`,
      key: `order/${order}`,
      payload: { order },
      priority: (order % 5) - 2,
      delay: isCancelled ? 20 * (order % 3) : 100 * (order % 4),
      unique: order % 2 === 0 ? { key: `order/${order}`, within: 3_600_000 } : undefined,
      ...schedule,
    };
    await outbox.save(tx, order % 4 === 0 ? [message, message] : message);
    if (isTakenBack) throw new TakenBack();
    reach("before-commit");
  };
  try {
    await outbox.transaction(work);
    if (isCancelled) await cancel(messageId);
  } catch (error) {
    // One that died after its commit had placed the order: the key of the table says so.
    if (!(error instanceof TakenBack) && !/duplicate/i.test(String(error))) throw error;
  }
  if (process.connected) process.send?.({ placed: order });
}

const stop = new AbortController();
process.once("disconnect", () => stop.abort());
process.on("message", (order) => void place(order));
const manager = new Manager();
manager.add(relay);
manager.add(recovery);
process.send?.({ ready: true });
await manager.run(stop.signal);
await webhook[Symbol.asyncDispose]?.();
await database[Symbol.asyncDispose]();
if (process.connected) process.disconnect();
