import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { testResourceLock } from "../../../../test/resource-lock.contract.ts";
import type { Database, Queryable } from "../../src/outbox/database/database.ts";
import { migrate } from "../../src/outbox/database/migrate.ts";
import { PostgresLock } from "../../src/outbox/lock/postgres-lock.ts";
import { Outbox } from "../../src/outbox/outbox.ts";
import type { Publisher } from "../../src/outbox/publish/publisher.ts";
import { Relay } from "../../src/outbox/relay/relay.ts";
import { PostgresStore } from "../../src/outbox/store/postgres-store.ts";
import * as sql from "../../src/outbox/store/statements.ts";
import { testStore } from "./outbox-store.contract.ts";
import { idOf, sample } from "./sample.ts";

const T = 1_700_000_000_000;

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

    beforeEach(() =>
      database.query("TRUNCATE outbox_message, outbox_content, outbox_fence, outbox_lock"),
    );

    testStore("PostgresStore", async () => ({
      store,
      transaction: (work) => database.transaction(work),
    }));

    let locks = 0;
    testResourceLock("PostgresLock", () => new PostgresLock(database, `lock-${++locks}`));

    async function save(...numbers: number[]): Promise<void> {
      await database.transaction(async (tx) => {
        for (const number of numbers) await store.save(tx, sample(number), T);
      });
    }

    it("writes what is confirmed at once in one statement, each on condition of its own claim", async () => {
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
      const request = { worker: "a", now: T, until: T + 60_000 };
      const { claims } = await store.claimSaved([1, 2, 3].map(idOf), request);
      const [first, second, third] = claims.toSorted((a, b) =>
        a.message.id < b.message.id ? -1 : 1,
      );
      if (first === undefined || second === undefined || third === undefined)
        throw new Error("lost");
      const marks = [
        watched.markSuccess(first, T + 1),
        watched.markSuccess({ ...second, number: second.number - 1 }, T + 2),
        watched.markSuccess({ ...third, worker: "b" }, T + 3),
      ];
      expect(await Promise.all(marks)).toEqual([true, false, true]);
      expect(statements).toEqual([sql.MARK_SUCCESS]);
      const found = await Promise.all([1, 2, 3].map((number) => store.find(idOf(number))));
      expect(found.map((message) => [message?.status, message?.editor, message?.editTime])).toEqual(
        [
          ["success", "a", T + 1],
          ["pending", "shop", T],
          ["success", "b", T + 3],
        ],
      );
    });

    describe("PostgresLock", () => {
      it("does not give a version of before to a record that is made anew", async () => {
        const { signal } = new AbortController();
        const record = {
          holder: "a",
          leaseDuration: 1,
          acquiredAt: T,
          renewedAt: T,
          transitions: 0,
        };
        const lock = new PostgresLock(database, "x");
        const versions: string[] = [];
        for (let round = 0; round < 3; round++) {
          const first = await lock.create(record, signal);
          const second = await lock.update(record, first.version, signal);
          versions.push(first.version, second.version);
          await database.query("DELETE FROM outbox_lock");
        }
        expect(new Set(versions).size).toBe(6);
      });
    });

    describe("migrate", () => {
      it("applies nothing twice, also when many start at once", async () => {
        expect(await Promise.all([migrate(database), migrate(database)])).toEqual([[], []]);
      });
    });

    describe("plans", () => {
      /** Confirmed ones are most of the table, as they are in one that is some weeks old. */
      const fill = (): Promise<unknown> =>
        database.query(`
          INSERT INTO outbox_message (id, create_time, edit_time, creator, editor, message_status,
            next_schedule_time, queue_name, exchange_name, routing_key, business_module, business_key)
          SELECT gen_random_uuid(), now(), now(), 'shop', 'shop',
            CASE WHEN n % 100 = 0 THEN 'pending' WHEN n % 100 = 1 THEN 'dead' ELSE 'success' END,
            CASE WHEN n % 100 = 0 THEN now() + n * interval '1 second' END, '', '', '', '', ''
          FROM generate_series(1, 10000) n`);

      /** Which indexes of the messages a statement reads, or that it reads all of them. */
      const scansOf = async (text: string, params: unknown[]): Promise<string[]> => {
        const lines = await database.query(`EXPLAIN ${text}`, params);
        const plan = lines.map((line) => String(line["QUERY PLAN"])).join("\n");
        const found = plan.match(
          /Seq Scan on outbox_message|(?<=(using|Scan on) )outbox_message_\w+/g,
        );
        return [...new Set(found)];
      };

      const IDS = Array.from({ length: 10 }, (_, i) => idOf(i));
      const queries: [string, string, unknown[], string[]][] = [
        ["due", sql.CLAIM_DUE, ["a", T, T, 100], ["outbox_message_due", "outbox_message_pkey"]],
        ["next due", sql.NEXT_DUE, [], ["outbox_message_due"]],
        ["claims that have ended", sql.ORPHANS, [T, 100], ["outbox_message_claimed"]],
        ["just saved", sql.CLAIM_SAVED, ["a", T, IDS], ["outbox_message_pkey"]],
        [
          "confirmed",
          sql.MARK_SUCCESS,
          [IDS, IDS.map(() => 1), IDS.map(() => "a"), IDS.map(() => T)],
          ["outbox_message_pkey"],
        ],
        ["dead", sql.REPLAY, [null, "ann", T], ["outbox_message_dead"]],
      ];

      it("read the index that is for the query, and nothing else of the table", async () => {
        await fill();
        await database.query("ANALYZE outbox_message");
        const scans = queries.map(async ([name, text, params]) => [
          name,
          await scansOf(text, params),
        ]);
        expect(await Promise.all(scans)).toEqual(queries.map(([name, , , scan]) => [name, scan]));
      });

      it("do not read all that wait to find a few, though the table has never been analyzed", async () => {
        await fill();
        const seen = ["due", "just saved", "confirmed"];
        const asked = queries.filter(([name]) => seen.includes(name));
        const scans = asked.map(async ([name, text, params]) => [
          name,
          await scansOf(text, params),
        ]);
        expect(await Promise.all(scans)).toEqual(asked.map(([name, , , scan]) => [name, scan]));
      });
    });

    describe("a row that is no message", () => {
      const request = { worker: "a", now: T + 1e6, until: T + 2e6 };

      it.each([
        [
          "JSON that is cut off",
          `UPDATE outbox_content SET content = '{"order":'`,
          /content: is no JSON/,
        ],
        ["no content", "DELETE FROM outbox_content", /content: is missing/],
        ["no retries", "UPDATE outbox_message SET max_retry_times = 0", /max_retry_times/],
        ["a factor of NaN", "UPDATE outbox_message SET backoff_factor = 'NaN'", /backoff_factor/],
      ])("with %s is dead with its reason, and others go on", async (_, change, problem) => {
        await save(1, 2, 3);
        const table = change.includes("content") ? "message_id" : "id";
        await database.query(`${change} WHERE ${table} = $1`, [idOf(2)]);
        const { claims, broken } = await store.claimDue(request, 10);
        expect(claims.map(({ message }) => message.id)).toEqual([idOf(1), idOf(3)]);
        expect(broken).toEqual([{ id: idOf(2), problem: expect.stringMatching(problem) }]);
        expect(await store.claimDue(request, 10)).toEqual({ claims: [], broken: [] });
        const [row] = await database.query(
          "SELECT message_status, last_error, claimed_by FROM outbox_message WHERE id = $1",
          [idOf(2)],
        );
        expect(row).toEqual({
          ...{
            message_status: "dead",
            claimed_by: null,
            last_error: expect.stringMatching(problem),
          },
        });
        expect(await store.find(idOf(2))).toBeUndefined();
      });

      it("is found among the claims of the dead too", async () => {
        await save(1, 2);
        await store.claimSaved([idOf(1), idOf(2)], { worker: "a", now: T, until: T + 1 });
        await database.query("UPDATE outbox_content SET content = '' WHERE message_id = $1", [
          idOf(1),
        ]);
        const { claims, broken } = await store.orphans(T + 1, 10);
        expect(claims.map(({ message }) => message.id)).toEqual([idOf(2)]);
        expect(broken.map(({ id }) => id)).toEqual([idOf(1)]);
        expect((await store.orphans(T + 1, 10)).broken).toEqual([]);
      });

      describe("because the schema is not ours any more", () => {
        beforeAll(async () => {
          await database.query("ALTER TABLE outbox_message DROP CONSTRAINT outbox_message_status");
        });

        it("with an unknown status is dead with its reason", async () => {
          await save(1);
          await database.query("UPDATE outbox_message SET message_status = 'sending'");
          const { broken } = await store.claimDue(request, 10);
          expect(broken).toEqual([
            { id: idOf(1), problem: expect.stringContaining("message_status") },
          ]);
          expect(await store.counts()).toMatchObject({ dead: 1 });
        });

        it("stays claimed, and is reported with both reasons, if it cannot be made dead", async () => {
          await save(1);
          await database.query("UPDATE outbox_message SET message_status = 'sending'");
          await database.query(
            "ALTER TABLE outbox_message ADD CONSTRAINT nothing_dies CHECK (message_status <> 'dead')",
          );
          const { broken } = await store.claimDue(request, 10);
          expect(broken[0]?.problem).toMatch(
            /message_status.*could not be made dead.*nothing_dies/,
          );
          expect((await store.claimDue(request, 10)).broken).toEqual([]);
          expect((await store.orphans(request.until, 10)).broken).toHaveLength(1);
          await database.query("ALTER TABLE outbox_message DROP CONSTRAINT nothing_dies");
        });
      });
    });

    it("does not pass for committed what a statement that failed has undone", async () => {
      const work = database.transaction(async (tx) => {
        await store.save(tx, sample(1), T);
        await tx.query("SELECT no_such_column").catch(() => {});
      });
      await expect(work).rejects.toThrow(/transaction (is aborted|was rolled back)/);
      expect(await store.find(idOf(1))).toBeUndefined();
    });

    it("leaves a message alone that a person has taken out of use", async () => {
      await save(1);
      await database.query("UPDATE outbox_message SET deleted = true");
      expect(
        (await store.claimDue({ worker: "a", now: T + 1e6, until: T + 2e6 }, 10)).claims,
      ).toEqual([]);
      expect(await store.nextDue()).toBeUndefined();
      expect(await store.find(idOf(1))).toMatchObject({ deleted: true });
    });

    it("carries a message from the business change to the receiver, through a real database", async () => {
      await database.query("CREATE TABLE orders (number integer)");
      const failures: string[] = [];
      const sent: string[] = [];
      const stop = new AbortController();
      const publisher: Publisher = {
        publish: async ({ id, currentRetryTimes }) => {
          if (currentRetryTimes === 0) throw new Error("unreachable");
          sent.push(id);
        },
        [Symbol.asyncDispose]: async () => {},
      };
      const done = new Set<string>();
      const relay = new Relay({
        ...{ name: "relay", store, publisher },
        onEvent: (event) => {
          if (event.type === "failed") failures.push(event.claim.message.id);
          if (event.type === "published") done.add(event.claim.message.id);
          if (done.size === 3) stop.abort();
        },
      });
      const outbox = new Outbox<Queryable>({
        store,
        transaction: (work) => database.transaction(work),
        onCommitted: (ids) => relay.saved(ids),
      });
      const sell = (number: number, inStock: boolean): Promise<void> =>
        outbox.transaction(async (tx) => {
          await tx.query("INSERT INTO orders (number) VALUES ($1)", [number]);
          await outbox.save(tx, sample(number, { initBackoff: 10 }));
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
      expect(await store.counts()).toEqual({ pending: 0, failed: 0, success: 3, dead: 0 });
      const orders = await database.query("SELECT number FROM orders ORDER BY number");
      expect(orders.map(({ number }) => number)).toEqual([1, 2, 4]);
    });
  });
}
