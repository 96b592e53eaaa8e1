import { Outbox, type Publisher, Relay } from "@holdfast/outbox";
import { migrate, PostgresStore } from "@holdfast/outbox/postgres";
import type { Database, Queryable } from "@holdfast/outbox/store";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { statementsOf } from "../../src/postgres/statements.ts";
import { idOf, numberOf, sample } from "../sample.ts";
import { testInvalidRows } from "../store/invalid-row.contract.ts";
import { testMissingTables } from "../store/missing-tables.contract.ts";
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
      expect(await migrate(database)).toEqual([1, 2, 3, 4, 5]);
    });

    afterAll(() => database[Symbol.asyncDispose]());

    beforeEach(() => database.query("TRUNCATE outbox_message, outbox_fence, outbox_once"));

    testStore("PostgresStore", async ({ order }) => ({
      store: new PostgresStore(database, { order }),
      transaction: (work) => database.transaction(work),
      isAlone: name === "PGlite",
    }));

    testMissingTables("PostgresStore", () => ({
      database,
      make: (options) => new PostgresStore(database, options),
      code: "42P01",
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

    describe.each(["none", "key"] as const)("of many topics, in order %s", (order) => {
      /** Topic 0 has a backlog of 1,200, which is due first; 30 others follow with two messages each. */
      beforeEach(async () => {
        store = new PostgresStore(database, { order });
        await database.query(`
          INSERT INTO outbox_message (id, topic, key, payload, created_at, updated_at, due_at)
          SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid,
            'topic ' || CASE WHEN n <= 1200 THEN 0 ELSE (n - 1200) % 30 + 1 END, 'key ' || n,
            '{}', now(), now(), to_timestamp(${T} / 1000 + n)
          FROM generate_series(1, 1260) n`);
      });

      afterEach(() => {
        store = new PostgresStore(database);
      });

      const now = T + 1e9;
      const due = { relay: "a", now, until: now + 60_000, limit: 40 };
      const claimed = async (filter: object): Promise<number[]> => {
        const { claims } = await store.claim({ ...due, ...filter });
        return claims.map(({ message }) => numberOf(message.id));
      };
      const range = (from: number, to: number): number[] =>
        Array.from({ length: to - from + 1 }, (_, i) => from + i);

      it.each([undefined, false])(
        "claims those behind the backlog of another topic: hasExpired %s",
        async (hasExpired) => {
          const filter = { exceptTopics: ["topic 0"], hasExpired };
          expect(await store.nextDue(undefined, filter)).toBe(T + 1_201_000);
          expect(await claimed(filter)).toEqual(range(1_201, 1_240));
          expect(await claimed(filter)).toEqual(range(1_241, 1_260));
          expect(await store.nextDue(undefined, filter)).toBeUndefined();
          expect(await claimed({ limit: 2 })).toEqual([1, 2]);
        },
      );

      it("claims those of some topics, the earliest first", async () => {
        const filter = { topics: ["topic 7", "topic 0", "topic 3"], exceptTopics: ["topic 0"] };
        expect(await claimed(filter)).toEqual([1_202, 1_206, 1_232, 1_236]);
      });
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
          await outbox.save(tx, sample(number, { backoff: { duration: 10 } }));
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
