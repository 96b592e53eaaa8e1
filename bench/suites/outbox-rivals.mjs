// The outbox beside the job queues that people would take instead: ten posts at a time to an endpoint of
// this machine. The endpoint and the database are processes of their own.
import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { stopwatch } from "../measure.mjs";
import { CONTENT, HARMLESS } from "./outbox-content.mjs";
import { embedded, onMaria, onPostgres, WORKERS } from "./outbox-databases.mjs";

const ENDPOINT = fileURLToPath(new URL("../endpoint.mjs", import.meta.url));
/** How many messages are saved per second for the latency. */
const RATE = 100;
/** How many transactions save at the same time. */
const SAVERS = 32;

const payloadOf = (order) => ({ ...CONTENT, order });

/** Starts the endpoint. */
async function endpoint() {
  const child = fork(ENDPOINT, { execArgv: [] });
  const [{ port }] = await once(child, "message");
  return {
    url: `http://127.0.0.1:${port}/`,
    /** The arrivals since the last call. */
    async arrivals() {
      child.send("arrivals");
      const [{ arrivals }] = await once(child, "message");
      return new Map(arrivals);
    },
  };
}

/** Posts as a worker of a job queue does, and as `WebhookPublisher` does. */
function poster(url) {
  return async (id, payload) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": id },
      body: JSON.stringify(payload),
    });
    void response.body?.cancel();
    if (!response.ok) throw new Error(`${response.status}`);
  };
}

/** Waits until so many are done. */
function countdown() {
  let left = 0;
  let finish;
  return {
    async start(count) {
      left = count;
      await new Promise((resolve) => {
        finish = resolve;
      });
    },
    done() {
      if (--left === 0) finish();
    },
  };
}

/** The parts of a contender: how it saves many, how it saves one in a transaction, and how it sends. */
async function outboxOn({ database, store, migrate }, url, { isNotified = false } = {}) {
  const { Outbox, Relay } = await import("@holdfast/outbox");
  const { WebhookPublisher } = await import("@holdfast/outbox/webhook");
  await migrate(database);
  const done = countdown();
  const relay = new Relay({
    name: "bench",
    store,
    publisher: new WebhookPublisher({ url }),
    workers: WORKERS,
    listen: isNotified,
    onEvent: (event) => {
      if (event.type === "delivered") done.done();
      else if (!HARMLESS.has(event.type)) throw new Error(`${event.type}: ${event.error}`);
    },
  });
  const outbox = new Outbox({
    store,
    transaction: (work) => database.transaction(work),
    onCommitted: isNotified ? undefined : () => relay.wake(),
  });
  const messageOf = (order) => ({
    topic: "orders.paid",
    key: `order/${order}`,
    payload: payloadOf(order),
  });
  return {
    done,
    saveAll: (orders) => outbox.transaction((tx) => outbox.save(tx, orders.map(messageOf))),
    save: (order) => outbox.transaction((tx) => outbox.save(tx, messageOf(order))),
    start() {
      const stop = new AbortController();
      const running = relay.run(stop.signal);
      return async () => {
        stop.abort();
        await running;
      };
    },
  };
}

/**
 * Copies the only row of a table so often, with another id. Jobs that wait are loaded so: a million calls of `add` would
 * take minutes.
 */
async function copyRow(pool, table, count) {
  const [schema, name] = table.split(".");
  const { rows } = await pool.query(
    `SELECT quote_ident(column_name) AS name FROM information_schema.columns
     WHERE table_schema = $1 AND table_name = $2 AND is_generated = 'NEVER' AND column_name <> 'id'`,
    [schema, name],
  );
  const names = rows.map((row) => row.name).join(", ");
  await pool.query(
    `INSERT INTO ${table} (${names}) SELECT ${names} FROM ${table}, generate_series(2, $1)`,
    [count],
  );
  await pool.query("VACUUM ANALYZE");
}

async function poolOf() {
  const { default: pg } = await import("pg");
  const { url } = await onPostgres();
  return { url, pool: new pg.Pool({ connectionString: url, max: 2 * WORKERS }) };
}

/** @param preset - the options of its worker */
function graphileWorker(preset) {
  return async (endpointUrl) => {
    const { makeWorkerUtils, run, Logger } = await import("graphile-worker");
    const { pool } = await poolOf();
    const logger = new Logger(() => () => {});
    const post = poster(endpointUrl);
    const done = countdown();
    const utils = await makeWorkerUtils({ pgPool: pool, logger });
    await utils.migrate();
    const add = `SELECT graphile_worker.add_job('post', $1::json)`;
    return {
      done,
      async wait(count) {
        await pool.query(
          "SELECT graphile_worker.add_job('post', $1::json, run_at := now() + interval '1 hour')",
          [JSON.stringify(payloadOf(0))],
        );
        await copyRow(pool, "graphile_worker._private_jobs", count);
      },
      async saveAll(orders) {
        await pool.query(
          "SELECT count(graphile_worker.add_job('post', value)) FROM json_array_elements($1::json)",
          [JSON.stringify(orders.map(payloadOf))],
        );
      },
      async save(order) {
        const client = await pool.connect();
        await client.query("BEGIN");
        await client.query(add, [JSON.stringify(payloadOf(order))]);
        await client.query("COMMIT");
        client.release();
      },
      async start() {
        const runner = await run({
          pgPool: pool,
          logger,
          noHandleSignals: true,
          concurrency: WORKERS,
          preset,
          taskList: { post: async (payload, { job }) => await post(String(job.id), payload) },
        });
        runner.events.on("job:complete", ({ error }) => {
          if (error) throw error;
          done.done();
        });
        return () => runner.stop();
      },
    };
  };
}

async function pgBoss(endpointUrl) {
  const { PgBoss } = await import("pg-boss");
  const { url } = await onPostgres();
  const boss = new PgBoss({
    connectionString: url,
    max: 2 * WORKERS,
    supervise: false,
    schedule: false,
    useListenNotify: true,
  });
  const post = poster(endpointUrl);
  const done = countdown();
  await boss.start();
  await boss.createQueue("post", { notify: true });
  return {
    done,
    async wait(count) {
      const { default: pg } = await import("pg");
      const pool = new pg.Pool({ connectionString: url, max: 1 });
      await boss.send("post", payloadOf(0), { startAfter: 3_600 });
      await copyRow(pool, "pgboss.job", count);
      await pool.end();
    },
    async saveAll(orders) {
      await boss.insert(
        "post",
        orders.map((order) => ({ data: payloadOf(order) })),
      );
    },
    save: (order) => boss.send("post", payloadOf(order)),
    async start() {
      await boss.work(
        "post",
        { batchSize: WORKERS, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true },
        async (jobs) => {
          await Promise.all(jobs.map(({ id, data }) => post(id, data)));
          for (const _ of jobs) done.done();
        },
      );
      return () => boss.offWork("post");
    },
  };
}

/** CPU time of the database server so far, in µs; undefined where it cannot be read. */
async function serverCpu() {
  try {
    const { default: pg } = await import("pg");
    const client = new pg.Client(process.env.HOLDFAST_BENCH_POSTGRES);
    await client.connect();
    const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
    const postmaster = statOf(rows[0].pid).parent;
    let ticks = statOf(postmaster).ofChildren;
    for (const name of readdirSync("/proc")) {
      if (!/^\d+$/.test(name)) continue;
      const stat = statOf(name);
      if (stat?.parent === postmaster) ticks += stat.own;
    }
    await client.end();
    return ticks * 10_000; // Linux counts hundredths of a second.
  } catch {
    return undefined;
  }
}

function statOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ");
    const [, parent] = fields;
    const [user, system, childUser, childSystem] = fields.slice(11, 15).map(Number);
    return { parent: Number(parent), own: user + system, ofChildren: childUser + childSystem };
  } catch {
    return undefined; // It has ended.
  }
}

/**
 * A sample: so many messages wait; how long until all are posted and their outcomes written.
 *
 * @param retries - how many others wait for each, for an hour
 */
function posting(open, retries = 0) {
  return async (count) => {
    const { url, arrivals } = await endpoint();
    const contender = await open(url);
    if (retries > 0) await contender.wait(count * retries);
    return async () => {
      await contender.saveAll(Array.from({ length: count }, (_, i) => i));
      await arrivals();
      const before = await serverCpu();
      const lap = stopwatch();
      const began = performance.now();
      const finished = contender.done.start(count);
      const stop = await contender.start();
      await finished;
      const wall = performance.now() - began;
      const cpu = lap() / 1_000;
      const after = await serverCpu();
      await stop();
      const arrived = await arrivals();
      if (arrived.size !== count) throw new Error(`${arrived.size} of ${count} arrived`);
      const server = (after ?? Number.NaN) - (before ?? Number.NaN);
      return {
        "wall µs/message": (wall * 1_000) / count,
        "CPU µs, process": cpu / count,
        "CPU µs, server": server / count,
      };
    };
  };
}

/** Relays run once, so each sample of the outbox needs another. */
function outboxPosting(openDatabase, retries) {
  const open = async (url) => {
    const opened = await openDatabase(`post_${randomUUID().replaceAll("-", "").slice(0, 8)}`);
    const first = await outboxOn(opened, url);
    let current = first;
    const waiting = { status: "retrying", topic: "orders.paid", start: 3_600_000, step: 0 };
    return {
      wait: (count) => opened.load(opened.database, [{ ...waiting, count }]),
      saveAll: (orders) => first.saveAll(orders),
      done: { start: (count) => current.done.start(count) },
      async start() {
        const stop = current.start();
        return async () => {
          await stop();
          current = await outboxOn(opened, url);
        };
      },
    };
  };
  return posting(open, retries);
}

/** A sample: so many messages, a hundred a second; from the commit of each to its arrival. */
function latency(open) {
  return async (count) => {
    const { url, arrivals } = await endpoint();
    const contender = await open(url);
    const stop = await contender.start();
    return async () => {
      await arrivals();
      const finished = contender.done.start(count);
      const committed = new Map();
      const began = performance.now();
      const saves = [];
      for (let order = 0; order < count; order++) {
        const wait = began + (order * 1_000) / RATE - performance.now();
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
        saves.push(
          contender.save(order).then(() => {
            committed.set(order, performance.timeOrigin + performance.now());
          }),
        );
      }
      await Promise.all([finished, ...saves]);
      const arrived = await arrivals();
      const waits = [...committed]
        .map(([order, at]) => arrived.get(order) - at)
        .sort((a, b) => a - b);
      void stop;
      return {
        "p50 µs": waits[Math.floor(count / 2)] * 1_000,
        "p99 µs": waits[Math.floor(count * 0.99)] * 1_000,
      };
    };
  };
}

const onOwn = (options) => async (url) => await outboxOn(await onPostgres(), url, options);

/** A sample: so many transactions on 32 connections, each a row of the shop and a message. */
function saving(prepare) {
  return async (count) => {
    const { default: pg } = await import("pg");
    const { PgDatabase, PostgresStore } = await import("@holdfast/outbox/postgres");
    const { url, migrate } = await onPostgres();
    const database = new PgDatabase(new pg.Pool({ connectionString: url, max: SAVERS }));
    const other = new PgDatabase(new pg.Pool({ connectionString: url, max: 4 }));
    await migrate(database);
    await database.query("CREATE TABLE payment (id uuid PRIMARY KEY, amount integer NOT NULL)");
    const store = new PostgresStore(database);
    // What other processes of the service do: it listens.
    const listener = new AbortController();
    void new PostgresStore(other).listen(() => {}, listener.signal);
    const save = await prepare({ database, store, other: new PostgresStore(other) });
    return async () => {
      let left = count;
      const began = performance.now();
      const loop = async () => {
        while (left-- > 0)
          await save(async (tx) => {
            await tx.query("INSERT INTO payment VALUES ($1, 12)", [randomUUID()]);
          });
      };
      await Promise.all(Array.from({ length: SAVERS }, loop));
      return { "wall µs/transaction": ((performance.now() - began) * 1_000) / count };
    };
  };
}

/** A sample: so many messages on one connection, each in a transaction of its own or all in a list. */
function listing(openDatabase, isList) {
  return async (count) => {
    const opened = await openDatabase(`list_${randomUUID().replaceAll("-", "").slice(0, 8)}`);
    const { save, saveAll } = await outboxOn(opened, "http://127.0.0.1");
    const orders = Array.from({ length: count }, (_, i) => i);
    return async () => {
      const began = performance.now();
      if (isList) await saveAll(orders);
      else for (const order of orders) await save(order);
      return { "wall µs/message": ((performance.now() - began) * 1_000) / count };
    };
  };
}

const listsOn = (openDatabase) => ({
  "a list": listing(openDatabase, true),
  "one by one": listing(openDatabase, false),
});
const LISTING = {
  sizes: [1_000],
  quickSizes: [20],
  samples: 3,
  milliseconds: 0,
  rounds: 3,
  unit: "messages",
};

const MESSAGE = { topic: "orders.paid", key: "order/4711", payload: CONTENT };

const SAVING = {
  "no notification": async ({ database, store }) => {
    return (change) =>
      database.transaction(async (tx) => {
        await change(tx);
        await store.save(tx, MESSAGE, Date.now());
      });
  },
  "after the commit": async ({ database, store, other }) => {
    const { Outbox } = await import("@holdfast/outbox");
    const outbox = new Outbox({
      store: new Proxy(store, {
        get: (target, name) =>
          name === "notify" ? () => other.notify() : target[name].bind?.(target),
      }),
      transaction: (work) => database.transaction(work),
    });
    return (change) =>
      outbox.transaction(async (tx) => {
        await change(tx);
        await outbox.save(tx, MESSAGE);
      });
  },
  "NOTIFY in the transaction": async ({ database, store }) => {
    return (change) =>
      database.transaction(async (tx) => {
        await change(tx);
        await store.save(tx, MESSAGE, Date.now());
        await tx.query("SELECT pg_notify('outbox_saved', '')");
      });
  },
};

const server = () => "PostgreSQL";
const LOCAL_QUEUE = {
  worker: { localQueue: { size: 100 }, completeJobBatchDelay: 5, failJobBatchDelay: 5 },
};

/** A million, beside the messages of a sample. */
const RETRIES = 200;

const POSTING = { sizes: [5_000], quickSizes: [50], samples: 3, milliseconds: 0, rounds: 3 };

export const outboxRivals = {
  id: "l",
  title: "The outbox beside job queues",
  cases: [
    {
      ...POSTING,
      id: "post",
      title: "PostgreSQL: waiting messages, posted 10 at a time",
      needs: server,
      unit: "messages",
      contenders: {
        "@holdfast/outbox": outboxPosting(onPostgres),
        "graphile-worker": posting(graphileWorker(undefined)),
        "graphile-worker, local queue": posting(graphileWorker(LOCAL_QUEUE)),
        "pg-boss": posting(pgBoss),
      },
    },
    {
      ...POSTING,
      id: "post, retries wait",
      title: `PostgreSQL: the same, while ${RETRIES} retries of each wait`,
      needs: server,
      unit: "messages",
      contenders: {
        "@holdfast/outbox": outboxPosting(onPostgres, RETRIES),
        "graphile-worker": posting(graphileWorker(undefined), RETRIES),
        "graphile-worker, local queue": posting(graphileWorker(LOCAL_QUEUE), RETRIES),
        "pg-boss": posting(pgBoss, RETRIES),
      },
    },
    {
      ...POSTING,
      id: "post MariaDB",
      title: "MariaDB: waiting messages, posted 10 at a time",
      needs: () => "MariaDB",
      unit: "messages",
      contenders: { "@holdfast/outbox": outboxPosting(onMaria) },
    },
    {
      ...POSTING,
      id: "post PGlite",
      title: "PGlite in the process: waiting messages, posted 10 at a time",
      unit: "messages",
      contenders: { "@holdfast/outbox": outboxPosting(embedded) },
    },
    {
      id: "latency",
      title: `PostgreSQL: from commit to endpoint, ${RATE} messages a second`,
      needs: server,
      sizes: [1_000],
      quickSizes: [20],
      samples: 1,
      milliseconds: 0,
      rounds: 3,
      unit: "messages",
      contenders: {
        "@holdfast/outbox, its own relay": latency(onOwn({})),
        "@holdfast/outbox, notified": latency(onOwn({ isNotified: true })),
        "graphile-worker": latency(graphileWorker(undefined)),
        "pg-boss": latency(pgBoss),
      },
    },
    {
      id: "save",
      title: `PostgreSQL: transactions on ${SAVERS} connections`,
      needs: server,
      sizes: [5_000],
      quickSizes: [50],
      samples: 3,
      milliseconds: 0,
      rounds: 3,
      unit: "transactions",
      contenders: Object.fromEntries(
        Object.entries(SAVING).map(([name, prepare]) => [name, saving(prepare)]),
      ),
    },
    {
      ...LISTING,
      id: "list",
      title: "PostgreSQL: messages saved in a list, and each in a transaction",
      needs: server,
      contenders: listsOn(onPostgres),
    },
    {
      ...LISTING,
      id: "list MariaDB",
      title: "MariaDB: messages saved in a list, and each in a transaction",
      needs: () => "MariaDB",
      contenders: listsOn(onMaria),
    },
    {
      ...LISTING,
      id: "list PGlite",
      title: "PGlite in the process: messages saved in a list, and each in a transaction",
      contenders: listsOn(embedded),
    },
  ],
};
