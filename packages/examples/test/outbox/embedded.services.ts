import { randomUUID } from "node:crypto";
import { realClock } from "@holdfast/clock";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { emptyPGlite } from "../../../../test/empty-pglite.ts";
import { audit, faultsOf } from "../../src/outbox/audit.ts";
import { auditSchedule } from "../../src/outbox/crash/schedule-audit.ts";
import { EmbeddedDatabase } from "../../src/outbox/database/embedded-database.ts";
import { ProgramDatabase } from "../../src/outbox/database/program-database.ts";
import { readClaims } from "../../src/outbox/observe.ts";
import { messageOf } from "../../src/outbox/order.ts";
import { Receiver } from "../../src/outbox/receiver/receiver.ts";
import { serviceProblem } from "../../src/outbox/service-problem.ts";
import { servicesOf } from "../../src/outbox/settings.ts";

// What connections is a socket of PGlite, and what workers do there is real.

let tables: ProgramDatabase;

beforeAll(async () => {
  tables = await ProgramDatabase.within(await EmbeddedDatabase.start(await emptyPGlite()));
}, 120_000);

afterAll(async () => {
  await tables[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await tables.database.query(
    "TRUNCATE demo_order, demo_receipt, demo_effect, demo_failure, outbox_message",
  );
});

async function connected(): Promise<pg.Client> {
  const client = new pg.Client(tables.url);
  client.on("error", () => undefined); // of a socket that the test destroys
  await client.connect();
  return client;
}

/** As the operating system does it when a process is killed. */
function die(client: pg.Client): void {
  (
    client as unknown as { connection: { stream: { destroy(): void } } }
  ).connection.stream.destroy();
}

const INSERT = "INSERT INTO demo_order (number, message_id) VALUES ($1, $2)";

async function numbers(): Promise<readonly unknown[]> {
  const rows = await tables.database.query("SELECT number FROM demo_order ORDER BY number");
  return rows.map(({ number }) => number);
}

describe("the embedded database", () => {
  it("needs no description of its server", async () => {
    expect(await serviceProblem(servicesOf({ DATABASE_URL: tables.url }))).toBe(undefined);
  });

  it("keeps queries with values of many connections apart", async () => {
    const pool = new pg.Pool({ connectionString: tables.url, max: 4 });
    // Long values come in several pieces, between which others could come.
    const asked = Array.from({ length: 20 }, (_, number) => number);
    const ask = async (number: number): Promise<unknown> => {
      const value = "x".repeat(300_000 + number);
      return (await pool.query(`SELECT length($1) AS length, ${number} AS number`, [value])).rows;
    };
    const want = asked.map((number) => [{ length: 300_000 + number, number }]);
    expect(await Promise.all(asked.map(ask))).toEqual(want);
    await pool.end();
  });

  it("lets a transaction end before another begins", async () => {
    const [a, b] = [await connected(), await connected()];
    await a.query("BEGIN");
    await a.query(INSERT, [1, randomUUID()]);
    let isAnswered = false;
    const other = b.query("SELECT number FROM demo_order").then(({ rows }) => {
      isAnswered = true;
      return rows;
    });
    await a.query("SELECT 1");
    expect(isAnswered).toBe(false);
    await a.query("ROLLBACK");
    expect(await other).toEqual([]);
    await a.end();
    await b.end();
  });

  it("goes on after an error, in a transaction and out of one", async () => {
    const client = await connected();
    await expect(client.query("SELECT $1::integer", ["x"])).rejects.toThrow("invalid input syntax");
    await client.query("BEGIN");
    await expect(client.query("SELECT * FROM nowhere")).rejects.toThrow("does not exist");
    await expect(client.query("SELECT 1")).rejects.toThrow("aborted");
    await client.query("ROLLBACK");
    expect((await client.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    await client.end();
  });

  it.each([
    { what: "with a transaction open", steps: 2 },
    { what: "with the transaction just beginning", steps: 0 },
    { what: "in the middle of a statement", steps: 1 },
  ])("rolls back the transaction of a client that dies $what", async ({ steps }) => {
    const client = await connected();
    const statements = ["BEGIN", "INSERT INTO demo_order VALUES (7, gen_random_uuid())"];
    for (const [index, statement] of statements.entries()) {
      const sent = client.query(statement).catch(() => undefined);
      // Long enough for the socket to send it, not for the answer.
      if (index === steps) await new Promise((resolve) => process.nextTick(resolve));
      else await sent;
      if (index === steps) break;
    }
    die(client);
    expect(await numbers()).toEqual([]);
    await tables.database.query(INSERT, [8, randomUUID()]);
    expect(await numbers()).toEqual([8]);
  });
});

describe("the receiver", () => {
  it("applies an effect once for concurrent attempts", async () => {
    const id = randomUUID();
    const applied = await Promise.all([1, 2, 3, 4].map(() => tables.apply(id)));
    expect(applied.filter(Boolean)).toHaveLength(1);
    expect(await tables.database.query("SELECT * FROM demo_effect")).toHaveLength(1);
  });

  it("reports a message with two senders, until one has ended", async () => {
    const { database } = tables;
    const apply = (id: string): Promise<boolean> => tables.apply(id);
    await using receiver = await Receiver.start({ apply, seed: undefined, clock: realClock });
    const { ledger } = receiver;
    const id = randomUUID();
    const gone = new AbortController();
    const post = (signal?: AbortSignal): Promise<Response> =>
      fetch(receiver.url, {
        method: "POST",
        headers: { "idempotency-key": id },
        body: JSON.stringify({ order: 1 }),
        signal: signal ?? null,
      });
    const client = await connected();
    await client.query("BEGIN"); // holds the receiver's work up
    const first = post(gone.signal).catch(() => undefined);
    await expect.poll(() => ledger.counts.open, { timeout: 20_000 }).toBe(1);
    const second = post();
    await expect.poll(() => ledger.counts.overlaps, { timeout: 20_000 }).toBe(1);
    gone.abort();
    await first;
    await expect.poll(() => ledger.counts.open, { timeout: 20_000 }).toBe(1);
    await client.query("COMMIT");
    expect((await second).status).toBe(200);
    expect(ledger.counts).toMatchObject({ attempts: 2, open: 0, overlaps: 1 });
    expect(await database.query("SELECT * FROM demo_effect")).toHaveLength(1);
    await client.end();
  });
});

describe("the claims", () => {
  const NOW = 1_700_000_000_000;

  /** A message of an order, changed by hand. */
  async function waiting(order: number, changes: string): Promise<void> {
    const id = randomUUID();
    await tables.database.transaction((tx) => tables.store.save(tx, messageOf(order, id), NOW));
    await tables.database.query(`UPDATE outbox_message SET ${changes} WHERE id = $1`, [id]);
  }

  it("are counted by worker", async () => {
    const at = (offset: number): string => `to_timestamp(${(NOW + offset) / 1_000})`;
    await waiting(1, `due_at = ${at(-1)}`);
    await waiting(2, `due_at = ${at(300)}`);
    const failed = "status = 'retrying', failed_attempts = 2, last_error = 'no'";
    await waiting(3, `${failed}, due_at = ${at(100)}`);
    for (const [order, until] of [
      [4, 7_000],
      [5, 6_000],
    ] as const)
      await waiting(order, `claimed_by = 'worker-1', claimed_until = ${at(until)}`);
    await waiting(6, "status = 'dead', due_at = NULL");
    await waiting(7, "status = 'delivered', due_at = NULL");
    expect(await readClaims(tables)).toEqual([
      { worker: "worker-1", count: 2, until: NOW + 6_000 },
    ]);
  });
});

describe("the audit", () => {
  /** Order 1, that a worker has said to be placed. */
  const facts = { orders: [1], placed: new Set([1]), seen: [] };

  /** Order 1, as it is when all went well. */
  async function delivered(): Promise<string> {
    const id = randomUUID();
    const { database } = tables;
    await database.transaction(async (tx) => {
      await tx.query(INSERT, [1, id]);
      await tables.store.save(tx, messageOf(1, id), Date.now());
    });
    await database.query("UPDATE outbox_message SET status = 'delivered', due_at = NULL");
    await tables.apply(id);
    return id;
  }

  it("finds no fault in a correct run", async () => {
    const id = await delivered();
    const figures = await audit({ ...facts, seen: [id] }, tables.database);
    expect(figures).toMatchObject({ sent: 1, delivered: 1, dead: 0 });
    expect(faultsOf(figures)).toEqual([]);
  });

  it.each([
    { fault: "missing", damage: "DELETE FROM demo_order" },
    { fault: "lost", damage: "DELETE FROM demo_effect" },
    { fault: "lost", damage: "DELETE FROM outbox_message" },
    {
      fault: "waiting",
      damage: "UPDATE outbox_message SET status = 'retrying', due_at = now()",
    },
    { fault: "givenUpEarly", damage: "UPDATE outbox_message SET status = 'dead'" },
    { fault: "twice", damage: "INSERT INTO demo_effect SELECT message_id FROM demo_receipt" },
  ])("finds that a message is $fault after $damage", async ({ fault, damage }) => {
    await delivered();
    await tables.database.query(damage);
    const faults = faultsOf(await audit(facts, tables.database));
    expect(faults).toEqual([`${fault}: 1, must be 0`]);
  });

  it("distinguishes orders never placed from lost ones", async () => {
    await delivered();
    const orders = [1, 2, 3, 49, 99];
    // Order 2 was placed and is gone, 49 was rolled back, 3 and 99 never had their turn.
    const figures = await audit({ orders, placed: new Set([1, 2, 49]), seen: [] }, tables.database);
    expect(figures).toMatchObject({ sent: 1, missing: 1, unplaced: 2, lost: 0 });
    expect(faultsOf(figures, false)).toEqual(["missing: 1, must be 0"]);
    expect(faultsOf(figures)).toEqual(["unplaced: 2, must be 0", "missing: 1, must be 0"]);
  });

  it("counts waiting messages as kept, not as lost, in a stopped run", async () => {
    await delivered();
    await tables.database.query("DELETE FROM demo_effect");
    await tables.database.query("UPDATE outbox_message SET status = 'pending', due_at = now()");
    const figures = await audit(facts, tables.database);
    expect(figures).toMatchObject({ sent: 1, waiting: 1, lost: 0, missing: 0 });
    expect(faultsOf(figures, false)).toEqual([]);
  });

  it("accepts a dead message after four expired claims", async () => {
    await delivered();
    await tables.database.query("UPDATE outbox_message SET status = 'dead', expired_claims = 4");
    expect(faultsOf(await audit(facts, tables.database))).toEqual([]);
  });

  it("finds a rolled back order that exists", async () => {
    await delivered();
    await tables.database.query("UPDATE demo_order SET number = 49");
    const figures = await audit({ ...facts, orders: [49] }, tables.database);
    expect(faultsOf(figures)).toEqual(["phantoms: 1, must be 0"]);
  });

  it("finds a received message that was never committed", async () => {
    const id = await delivered();
    const figures = await audit({ ...facts, seen: [id, randomUUID()] }, tables.database);
    expect(faultsOf(figures)).toEqual(["phantoms: 1, must be 0"]);
  });

  it.each([
    { wait: 225, error: "WebhookError: POST: 500 x", wrong: 0 },
    { wait: 224, error: "WebhookError: POST: 500 x", wrong: 1 },
    { wait: 250, error: "WebhookError: POST: 500 x", wrong: 1 },
    { wait: 1_000, error: "RetryAfterError: POST: 503 x", wrong: 0 },
    { wait: 999, error: "RetryAfterError: POST: 503 x", wrong: 1 },
  ])("compares a wait of $wait ms after a second failure: $error", async (given) => {
    const { wait, error, wrong } = given;
    await tables.database.query("INSERT INTO demo_failure VALUES ($1, 2, $2, $3)", [
      ...[randomUUID(), wait, error],
    ]);
    const found = await auditSchedule(tables.database);
    expect(found.waits).toBe(1);
    expect(found.wrong).toHaveLength(wrong);
  });

  it("reads the waits of failures from the database", async () => {
    const id = await delivered();
    await tables.database.query(
      `UPDATE outbox_message SET status = 'retrying', failed_attempts = 2, last_error = 'x',
        updated_at = now(), due_at = now() + interval '230 milliseconds' WHERE id = $1`,
      [id],
    );
    expect(await auditSchedule(tables.database)).toEqual({ waits: 1, wrong: [] });
  });
});
