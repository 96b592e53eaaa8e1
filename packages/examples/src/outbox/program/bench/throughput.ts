import { type Clock, realClock } from "@holdfast/clock";
import { poll } from "@holdfast/wait";
import type { Database, Queryable } from "../../database/database.ts";
import { Outbox } from "../../outbox.ts";
import type { Publisher } from "../../publish/publisher.ts";
import { Relay } from "../../relay/relay.ts";
import { PostgresStore } from "../../store/postgres-store.ts";
import { messageOf } from "../order.ts";

/** How many messages are under way at once, with and without an outbox. */
const AT_ONCE = 10;

const INSERT = "INSERT INTO bench_order (number) VALUES ($1)";
const clock: Clock = realClock;

/** Confirms at once: what is measured is all that is not the network. */
const publisher: Publisher = {
  async publish() {},
  async [Symbol.asyncDispose]() {},
};

/** Messages per second without an outbox: a row is inserted, the message sent, the row marked. */
export async function bareRate(count: number, database: Database): Promise<number> {
  return await rateOf(count, async (number, signal) => {
    await database.query(INSERT, [number]);
    await publisher.publish({} as never, signal);
    await database.query("UPDATE bench_order SET sent = true WHERE number = $1", [number]);
  });
}

/** Messages per second with one: from the first transaction to the last mark. */
export async function outboxRate(count: number, database: Database): Promise<number> {
  const store = new PostgresStore(database);
  const stop = new AbortController();
  const relay = new Relay({ name: "bench", store, publisher, workers: AT_ONCE, clockSkew: 0 });
  const outbox = new Outbox<Queryable>({
    store,
    transaction: (work) => database.transaction(work),
    onCommitted: (ids) => relay.saved(ids),
  });
  const running = relay.run(stop.signal);
  const began = clock.monotonic();
  await rateOf(count, async (number) => {
    await outbox.transaction(async (tx) => {
      await tx.query(INSERT, [number]);
      await outbox.save(tx, { ...messageOf(number, crypto.randomUUID()), initBackoff: 10_000 });
    });
  });
  const isDone = async (): Promise<boolean> => (await store.counts()).success === count;
  await poll(isDone, { backoff: { duration: 20 }, clock });
  const rate = (count * 1_000) / (clock.monotonic() - began);
  stop.abort();
  await running;
  return rate;
}

async function rateOf(
  count: number,
  work: (number: number, signal: AbortSignal) => Promise<void>,
): Promise<number> {
  const { signal } = new AbortController();
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await work(++next, signal);
  };
  const began = clock.monotonic();
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return (count * 1_000) / (clock.monotonic() - began);
}
