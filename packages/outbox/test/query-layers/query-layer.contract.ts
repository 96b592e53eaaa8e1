import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { type NewMessage, Outbox, Relay } from "@holdfast/outbox";
import { migrate, PostgresStore } from "@holdfast/outbox/postgres";
import type { Database, Queryable, Statement } from "@holdfast/outbox/store";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { until } from "../postgres/listening.contract.ts";
import { idOf, numberOf, sample } from "../sample.ts";

/** A query layer over a database, in its own words. */
export interface QueryLayer<Tx extends object> {
  readonly database: Database;
  transaction<Value>(work: (tx: Tx) => Promise<Value>): Promise<Value>;
  /** Runs a function in a savepoint. */
  nested(tx: Tx, work: (tx: Tx) => Promise<void>): Promise<void>;
  /** Runs a statement through the tag of the layer. */
  run(tx: Tx, statement: Statement): Promise<unknown>;
  /** The business change: a row of the table `orders`. */
  order(tx: Tx, number: number): Promise<unknown>;
}

const HOUR = 3_600_000;

/** What holds for messages saved in a transaction of every query layer. */
export function testQueryLayer<Tx extends object>(
  name: string,
  open: () => Promise<QueryLayer<Tx>>,
): void {
  describe(name, () => {
    let layer: QueryLayer<Tx>;
    let store: PostgresStore;
    let commits: number;
    let clock: FakeClock;
    let outbox: Outbox<Queryable>;

    beforeAll(async () => {
      layer = await open();
      await migrate(layer.database);
      await layer.database.query("CREATE TABLE orders (number integer)");
      store = new PostgresStore(layer.database);
    });

    beforeEach(async () => {
      await layer.database.query("TRUNCATE outbox_message, outbox_once, orders");
      commits = 0;
      clock = new FakeClock();
      outbox = new Outbox({ store, clock, onCommitted: () => commits++ });
    });

    afterAll(() => layer.database[Symbol.asyncDispose]());

    const save = async (tx: Tx, message: NewMessage): Promise<void> => {
      for (const statement of outbox.statements(tx, message)) await layer.run(tx, statement);
    };

    const sell = async (tx: Tx, number: number): Promise<void> => {
      await layer.order(tx, number);
      await save(tx, sample(number));
    };

    /** The numbers of the orders, and those of the messages that relays find. */
    const stored = async (): Promise<[unknown[], number[]]> => {
      const orders = await layer.database.query("SELECT number FROM orders ORDER BY number");
      const now = clock.now();
      const { claims } = await store.claim({ relay: "a", now, until: now, limit: 10 });
      const messages = claims.map(({ message }) => numberOf(message.id)).sort();
      return [orders.map(({ number }) => number), messages];
    };

    it("stores the message that save() would store", async () => {
      const message = sample(1, {
        payload: { text: "it's 100 % \\ $1 ? ü 😀" },
        maxAge: 86_400_000,
        backoff: { factor: 1.5 },
      });
      await layer.transaction((tx) => save(tx, message));
      const written = await store.find(idOf(1));
      await layer.database.query("TRUNCATE outbox_message");
      const saved = await layer.database.transaction((tx) => store.save(tx, message, clock.now()));
      expect({ ...written, isNew: true }).toEqual(saved);
    });

    it("saves a message once, by its id and its unique key, and the transaction continues", async () => {
      const unique = { key: "a", within: 60_000 };
      await layer.transaction(async (tx) => {
        for (const [n, facts] of [
          [1, { unique }],
          [1, {}],
          [2, { unique }],
          [3, {}],
        ] as const)
          await save(tx, sample(n, facts));
      });
      expect(await stored()).toEqual([[], [1, 3]]);
    });

    it("commits the change and the message together", async () => {
      await layer.transaction((tx) => sell(tx, 1));
      expect(await stored()).toEqual([[1], [1]]);
    });

    it("rolls both back together", async () => {
      const noStock = new Error("no stock");
      const sold = layer.transaction(async (tx) => {
        await sell(tx, 1);
        throw noStock;
      });
      await expect(sold).rejects.toBe(noStock);
      expect(await stored()).toEqual([[], []]);
    });

    it("continues the transaction after a refused message", async () => {
      await layer.transaction(async (tx) => {
        await expect(save(tx, sample(1, { topic: "" }))).rejects.toThrow("message.topic");
        await sell(tx, 2);
      });
      expect(await stored()).toEqual([[2], [2]]);
    });

    it("sends at once after committed(tx)", async () => {
      const stop = new AbortController();
      const relay = new Relay({
        name: "relay",
        store,
        logger: silentLogger,
        publisher: { publish: async () => stop.abort() },
        pollInterval: HOUR,
        listen: false,
      });
      const sending = new Outbox({ store, onCommitted: () => relay.wake() });
      const running = relay.run(stop.signal);
      await realClock.sleep(50); // It has looked, and found nothing.
      await layer
        .transaction(async (tx) => {
          for (const statement of sending.statements(tx, sample(1))) await layer.run(tx, statement);
          return () => sending.committed(tx);
        })
        .then((committed) => committed());
      await running;
      expect(await store.find(idOf(1))).toMatchObject({ status: "delivered" });
    });

    it("announces nothing without committed(tx)", async () => {
      await layer.transaction((tx) => sell(tx, 1));
      expect(commits).toBe(0);
      expect(await stored()).toEqual([[1], [1]]);
    });

    it("announces a savepoint by committed(savepoint)", async () => {
      const { outer, inner } = await layer.transaction(async (tx) => {
        await sell(tx, 1);
        let savepoint: Tx | undefined;
        await layer.nested(tx, async (nested) => {
          savepoint = nested;
          await sell(nested, 2);
        });
        return { outer: tx, inner: savepoint as Tx };
      });
      outbox.committed(outer);
      expect(commits).toBe(1);
      outbox.committed(inner);
      expect(commits).toBe(2);
      expect(await stored()).toEqual([
        [1, 2],
        [1, 2],
      ]);
    });

    it("saves nothing of a savepoint that was rolled back", async () => {
      await layer.transaction(async (tx) => {
        await sell(tx, 1);
        const work = layer.nested(tx, async (nested) => {
          await sell(nested, 2);
          throw new Error("no stock");
        });
        await expect(work).rejects.toThrow("no stock");
      });
      expect(await stored()).toEqual([[1], [1]]);
    });

    it("notifies relays of other processes after the commit if it has no relay", async () => {
      const stop = new AbortController();
      let notifications = 0;
      const listening = store.listen?.(() => notifications++, stop.signal);
      await until(() => notifications === 1); // it listens
      const other = new Outbox({ store, clock });
      const tx = await layer.transaction(async (open) => {
        for (const statement of other.statements(open, sample(1))) await layer.run(open, statement);
        return open;
      });
      expect(notifications).toBe(1);
      other.committed(tx);
      await layer.database.query("SELECT 1");
      expect(notifications).toBe(2);
      stop.abort();
      await listening;
    });
  });
}
