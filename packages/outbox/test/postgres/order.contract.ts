import { migrate, PostgresStore } from "@holdfast/outbox/postgres";
import type { Claim, Claimed, Database } from "@holdfast/outbox/store";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deliver, fail } from "../outcomes.ts";
import { idOf, numberOf, sample } from "../sample.ts";

const T = 1_700_000_000_000;

/**
 * The order of keys, where many messages wait behind others.
 *
 * @param open - gives an empty database
 */
export function testOrder(name: string, open: () => Promise<Database>): void {
  describe(`the order of keys on ${name}`, () => {
    let database: Database;
    let store: PostgresStore;

    beforeAll(async () => {
      database = await open();
      await migrate(database);
    });

    afterAll(() => database[Symbol.asyncDispose]());

    beforeEach(async () => {
      await database.query("TRUNCATE outbox_message RESTART IDENTITY");
      store = new PostgresStore(database, { order: "key" });
    });

    /** Messages of a key with the numbers from … to. */
    const fill = async (key: string, from: number, to: number): Promise<void> => {
      await database.query(
        `INSERT INTO outbox_message (id, topic, key, payload, created_at, updated_at, due_at)
         SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'topic', $1, '{}',
           to_timestamp($2::float8 / 1000), to_timestamp($2::float8 / 1000), to_timestamp($2::float8 / 1000 + n)
         FROM generate_series($3::integer, $4::integer) n`,
        [key, T, from, to],
      );
    };
    const LATER = T + 1e9;
    const claim = (limit = 10, now = LATER): Promise<Claimed> =>
      store.claim({ relay: "a", now, until: now + 60_000, limit, hasExpired: false });
    const numbersOf = ({ claims }: Claimed): number[] =>
      claims.map(({ message }) => numberOf(message.id));
    const only = ({ claims }: Claimed): Claim => {
      expect(claims).toHaveLength(1);
      return claims[0] as Claim;
    };
    const look = (): Promise<number | undefined> => store.nextDue(undefined, { hasExpired: false });
    const parked = async (): Promise<number> => {
      const [row] = await database.query(
        "SELECT count(*)::integer AS count FROM outbox_message WHERE parked",
      );
      return Number(row?.["count"]);
    };

    it("finds other keys behind one with many messages, and reads these once", async () => {
      await fill("clogged", 1, 3_000);
      await fill("other", 3_001, 3_002);
      expect(numbersOf(await claim())).toEqual([1]);
      expect(numbersOf(await claim())).toEqual([3_001]);
      expect((await claim()).claims).toEqual([]);
      expect(await parked()).toBe(3_000);
      expect(await look()).toBeUndefined();
    });

    it("sends each key in order, while messages are saved, delivered and dead", async () => {
      await fill("a", 1, 3);
      await fill("b", 4, 6);
      const sent: number[] = [];
      for (let round = 0; round < 12; round++) {
        for (const held of (await claim()).claims) {
          const number = numberOf(held.message.id);
          sent.push(number);
          if (number === 2) await fail(store, held, { now: T, error: "never", dueAt: undefined });
          else if (number === 5 && held.message.failedAttempts === 0)
            await fail(store, held, { now: T, error: "again", dueAt: T });
          else await deliver(store, held, T);
        }
        if (round === 1) await fill("a", 7, 8);
      }
      const ofKey = (numbers: readonly number[]) => sent.filter((n) => numbers.includes(n));
      expect(ofKey([1, 2, 3, 7, 8])).toEqual([1, 2, 3, 7, 8]);
      expect(ofKey([4, 5, 6])).toEqual([4, 5, 5, 6]);
      expect(await parked()).toBe(0);
    });

    it("waits for the first of each key in an outage, however many are due behind it", async () => {
      await fill("a", 1, 1_500);
      const again = LATER + 5_000;
      await fail(store, only(await claim()), { now: T, error: "unreachable", dueAt: again });
      expect((await claim()).claims).toEqual([]);
      expect(await look()).toBe(again);
      expect(numbersOf(await claim(10, again))).toEqual([1]);
    });

    it.each<[string, (store: PostgresStore) => Promise<unknown>]>([
      [
        "was removed by another program",
        () => database.query("DELETE FROM outbox_message WHERE id = $1", [idOf(1)]),
      ],
      [
        "was sent by a relay that knows nothing of that",
        () =>
          database.query(
            "UPDATE outbox_message SET status = 'delivered', due_at = NULL WHERE id = $1",
            [idOf(1)],
          ),
      ],
    ])("looks for messages behind one that %s", async (_, end) => {
      await fill("a", 1, 2);
      await fill("b", 3, 4);
      await fail(store, (await claim()).claims[0] as Claim, {
        now: T,
        error: "x",
        dueAt: LATER * 2,
      });
      expect(await parked()).toBe(2);
      await end(store);
      await look();
      expect(numbersOf(await claim())).toEqual([2]);
    });

    it("claims messages that waited for others once there is no order", async () => {
      await fill("a", 1, 3);
      await claim();
      expect(await parked()).toBe(2);
      store = new PostgresStore(database);
      await look();
      expect(numbersOf(await claim()).sort()).toEqual([2, 3]);
    });

    it("claims a replayed message that had waited for another one", async () => {
      await fill("a", 1, 2);
      await claim();
      await database.query(
        "UPDATE outbox_message SET status = 'dead', due_at = NULL, claimed_by = NULL, claimed_until = NULL",
      );
      await store.replay({ ids: [idOf(2)] }, T);
      expect(numbersOf(await claim())).toEqual([2]);
    });

    it("refuses a table whose sequence has started again, and says how to mend that", async () => {
      await fill("a", 1, 6);
      await database.query(
        "SELECT setval(pg_get_serial_sequence('outbox_message', 'sequence'), 1, false)",
      );
      const refused = claim();
      await expect(refused).rejects.toThrow(
        "SELECT setval(pg_get_serial_sequence('outbox_message'",
      );
      expect((await store.expired(LATER * 2, 9)).claims).toEqual([]);
      await fill("a", 7, 9); // 1, 2 and 3 of the sequence, as the first three.
      await expect(claim()).rejects.toThrow("UPDATE outbox_message SET sequence = DEFAULT");
      await database.query(
        "SELECT setval(pg_get_serial_sequence('outbox_message', 'sequence'), (SELECT max(sequence) FROM outbox_message))",
      );
      await expect(claim()).rejects.toThrow("has started again"); // Some have the same number.
      for (const number of [7, 8, 9])
        await database.query("UPDATE outbox_message SET sequence = DEFAULT WHERE id = $1", [
          idOf(number),
        ]);
      const sent: number[] = [];
      for (let round = 0; round < 9; round++) {
        const held = only(await claim());
        sent.push(numberOf(held.message.id));
        await deliver(store, held, T);
      }
      expect(sent).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    });

    it("does not refuse a table whose numbers have gaps, nor one without an order", async () => {
      await fill("a", 1, 2);
      await database.query(
        "SELECT setval(pg_get_serial_sequence('outbox_message', 'sequence'), 99)",
      );
      await database.transaction((tx) => store.save(tx, sample(3, { key: "a" }), T));
      expect(numbersOf(await claim())).toEqual([1]);
      await database.query(
        "SELECT setval(pg_get_serial_sequence('outbox_message', 'sequence'), 1, false)",
      );
      store = new PostgresStore(database);
      await look();
      expect(numbersOf(await claim()).sort()).toEqual([2, 3]);
    });
  });
}
