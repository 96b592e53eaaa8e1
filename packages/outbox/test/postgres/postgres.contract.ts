import { type Database, Outbox, type Publisher, type Queryable, Relay } from "@holdfast/outbox";
import { migrate, PostgresStore } from "@holdfast/outbox/postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { statementsOf } from "../../src/postgres/statements.ts";
import { idOf, sample } from "../sample.ts";
import { testInvalidRows } from "../store/invalid-row.contract.ts";
import { testStore } from "../store/outbox-store.contract.ts";

const T = 1_700_000_000_000;
const sql = statementsOf("outbox_");

/**
 * What holds on every PostgreSQL.
 *
 * @param open - gives an empty database: one for all, because to make one may take seconds
 */
export function testPostgres(name: string, open: () => Promise<Database>): void {
  describe(name, () => {
    let database: Database;
    let store: PostgresStore;

    beforeAll(async () => {
      database = await open();
      store = new PostgresStore(database);
      expect(await migrate(database)).toEqual([1, 2]);
    }, 120_000);

    afterAll(() => database[Symbol.asyncDispose]());

    beforeEach(() => database.query("TRUNCATE outbox_message, outbox_fence"));

    testStore("PostgresStore", async ({ order }) => ({
      store: new PostgresStore(database, { order }),
      transaction: (work) => database.transaction(work),
    }));

    async function save(...numbers: number[]): Promise<void> {
      await database.transaction(async (tx) => {
        for (const number of numbers) await store.save(tx, sample(number), T);
      });
    }

    it("writes many outcomes in one statement", async () => {
      const statements: string[] = [];
      const watched = new PostgresStore({
        query: (text, params) => {
          statements.push(text);
          return database.query(text, params);
        },
        transaction: (work) => database.transaction(work),
        async [Symbol.asyncDispose]() {},
      });
      await save(1, 2, 3);
      const { claims } = await store.claim({ relay: "a", now: T, until: T + 60_000, limit: 3 });
      await watched.write(claims.map((claim) => ({ type: "delivered", claim, now: T })));
      expect(statements).toEqual([sql.write]);
      expect(await store.counts()).toMatchObject({ delivered: 3 });
    });

    describe("migrate", () => {
      it("applies nothing twice, also when many start at once", async () => {
        expect(await Promise.all([migrate(database), migrate(database)])).toEqual([[], []]);
      });
    });

    testInvalidRows({
      database: () => database,
      store: () => store,
      save,
      badFactor: "'NaN'",
    });

    it("rejects a transaction that a failed statement rolled back", async () => {
      const work = database.transaction(async (tx) => {
        await store.save(tx, sample(1), T);
        await tx.query("SELECT no_such_column").catch(() => {});
      });
      await expect(work).rejects.toThrow(/transaction (is aborted|rolled back)/);
      expect(await store.find(idOf(1))).toBeUndefined();
    });

    it("carries a message from the business change to the receiver, through a real database", async () => {
      await database.query("CREATE TABLE orders (number integer)");
      const failures: string[] = [];
      const sent: string[] = [];
      const stop = new AbortController();
      const publisher: Publisher = {
        publish: async ({ id, failedAttempts }) => {
          if (failedAttempts === 0) throw new Error("unreachable");
          sent.push(id);
        },
      };
      const done = new Set<string>();
      const relay = new Relay({
        name: "relay",
        store,
        publisher,
        onEvent: (event) => {
          if (event.type === "failed") failures.push(event.claim.message.id);
          if (event.type === "delivered") done.add(event.claim.message.id);
          if (done.size === 3) stop.abort();
        },
      });
      const outbox = new Outbox<Queryable>({
        store,
        transaction: (work) => database.transaction(work),
        onCommitted: () => relay.wake(),
      });
      const sell = (number: number, inStock: boolean): Promise<void> =>
        outbox.transaction(async (tx) => {
          await tx.query("INSERT INTO orders (number) VALUES ($1)", [number]);
          await outbox.save(tx, sample(number, { initialDelay: 10 }));
          if (!inStock) throw new Error("no stock");
        });
      const sold = [sell(1, true), sell(2, true), sell(3, false), sell(4, true)];
      const results = await Promise.allSettled(sold);
      await relay.run(stop.signal);

      const ids = [1, 2, 4].map(idOf);
      expect(results.map(({ status }) => status).sort()).toEqual([
        ...ids.map(() => "fulfilled"),
        "rejected",
      ]);
      expect([failures.sort(), sent.sort()]).toEqual([ids, ids]);
      expect(await store.counts()).toEqual({ pending: 0, retrying: 0, delivered: 3, dead: 0 });
      const orders = await database.query("SELECT number FROM orders ORDER BY number");
      expect(orders.map(({ number }) => number)).toEqual([1, 2, 4]);
    });
  });
}
