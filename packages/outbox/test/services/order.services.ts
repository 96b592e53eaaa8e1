import { realClock } from "@holdfast/clock";
import { type Message, Relay } from "@holdfast/outbox";
import { migrate, type PgDatabase, PostgresStore } from "@holdfast/outbox/postgres";
import type { Claim } from "@holdfast/outbox/store";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { makeDatabase } from "../../../../test/make-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { ClaimStatements } from "../../src/postgres/claim-statements.ts";
import { deliver } from "../outcomes.ts";
import { numberOf, sample } from "../sample.ts";
import { connectTo } from "./test-database.ts";

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

let database: PgDatabase;
let store: PostgresStore;

beforeAll(async () => {
  database = connectTo(await makeDatabase(requiredUrl("DATABASE_URL")));
  await migrate(database);
  store = new PostgresStore(database, { order: "key" });
});

afterAll(() => database[Symbol.asyncDispose]());

beforeEach(() => database.query("TRUNCATE outbox_message"));

const save = (...numbers: number[]): Promise<void> =>
  database.transaction(async (tx) => {
    for (const number of numbers)
      await store.save(tx, sample(number, { key: `key ${number % 10}` }), Date.now());
  });

const claimOne = async (): Promise<Claim> => {
  const now = Date.now() + 1_000;
  const { claims } = await store.claim({ relay: "a", now, until: now + 60_000, limit: 1 });
  expect(claims).toHaveLength(1);
  return claims[0] as Claim;
};

it("unparks a message that another relay is parking while the one before it ends", async () => {
  await save(10, 20);
  const first = await claimOne();
  await database.query("UPDATE outbox_message SET parked = false");
  let written: Promise<boolean> | undefined;
  await database.transaction(async (tx) => {
    const park = new ClaimStatements("outbox_message", "key").park({
      topics: "all",
      hasExpired: false,
    });
    expect(await tx.query(park, [Date.now() + 1_000])).toEqual([{ parked: 1 }]);
    written = deliver(store, first, Date.now());
    // It waits for the lock of the first message, and so for the end of this transaction.
    await expect
      .poll(() => database.query("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"))
      .toHaveLength(1);
  });
  expect(await written).toBe(true);
  expect(numberOf((await claimOne()).message.id)).toBe(20);
});

it("parks no message behind one that is ending", async () => {
  await save(10, 20);
  const first = await claimOne();
  await database.query("UPDATE outbox_message SET parked = false");
  await database.transaction(async (tx) => {
    await tx.query(
      "UPDATE outbox_message SET status = 'delivered', due_at = NULL, claimed_by = NULL, claimed_until = NULL WHERE id = $1",
      [first.message.id],
    );
    const now = Date.now() + 1_000;
    expect((await store.claim({ relay: "b", now, until: now + 9, limit: 1 })).claims).toEqual([]);
  });
  expect(numberOf((await claimOne()).message.id)).toBe(20);
});

it("sends all messages in order with four relays, while they are saved", async () => {
  const sent = new Map<string, number[]>();
  const stop = new AbortController();
  const all = 1_000;
  let count = 0;
  const publish = async ({ id, key }: Message): Promise<void> => {
    await realClock.sleep(Math.random() * 3);
    sent.set(key, [...(sent.get(key) ?? []), numberOf(id)]);
    if (++count === all) stop.abort();
  };
  const relays = range(4).map(
    (number) =>
      new Relay({
        name: `relay ${number}`,
        store,
        publisher: { publish },
        listen: false,
        pollInterval: 500,
      }),
  );
  const running = relays.map((relay) => relay.run(stop.signal));
  for (let from = 0; from < all; from += 50) {
    await save(...range(50).map((i) => from + i));
    for (const relay of relays) relay.wake();
  }
  await Promise.all(running);
  for (const numbers of sent.values()) expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  expect(await store.backlog()).toEqual({ pending: 0, retrying: 0, dead: 0 });
});
