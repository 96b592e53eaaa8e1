import { PostgresLock } from "@holdfast/controller/postgres-lock";
import { Outbox, type OutboxEvent, type Publisher, Recovery, Relay } from "@holdfast/outbox";
import { PgDatabase, PostgresStore } from "@holdfast/outbox/postgres";
import type { Queryable } from "@holdfast/outbox/store";
import { poll, retry } from "@holdfast/wait";
import { sample } from "../sample.ts";
import { poolTo } from "./test-database.ts";

const UNIQUE_VIOLATION = "23505";

/** All that one program has: what saves, two relays and the recovery task, with short waits. */
export class Program implements AsyncDisposable {
  /** How often each kind of event came. */
  readonly events: Partial<Record<OutboxEvent["type"], number>> = {};
  readonly #database: PgDatabase;
  readonly #store: PostgresStore;
  readonly #outbox: Outbox<Queryable>;
  readonly #stop = new AbortController();
  readonly #runs: Promise<unknown>[];

  constructor(url: string, publisher: Publisher) {
    const pool = poolTo(url);
    const database = new PgDatabase(pool);
    const store = new PostgresStore(database);
    const onEvent = ({ type }: OutboxEvent): void => {
      this.events[type] = (this.events[type] ?? 0) + 1;
    };
    const relays = ["relay-1", "relay-2"].map(
      (name) =>
        new Relay({
          name,
          store,
          publisher,
          onEvent,
          pollInterval: 100,
          jitter: 0,
          publishTimeout: 2_000,
          storeTimeout: 2_000,
          claimDuration: 5_000,
          clockSkew: 0,
        }),
    );
    const recovery = new Recovery({
      name: "recovery",
      store,
      onEvent,
      interval: 200,
      minRound: 0,
      jitter: 0,
      acquireTimeout: 1_000,
      leaseDuration: 3_000,
      storeTimeout: 2_000,
      lock: new PostgresLock(pool, { name: "recovery" }),
    });
    this.#database = database;
    this.#store = store;
    this.#outbox = new Outbox({
      store,
      transaction: (work) => database.transaction(work),
      onCommitted: () => relays[0]?.wake(),
    });
    this.#runs = [...relays, recovery].map((part) => part.run(this.#stop.signal));
  }

  /** Saves a message as often as it takes, and says how often it failed. */
  async save(number: number, topic = sample(number).topic): Promise<number> {
    const facts = { topic, backoff: { duration: 200, factor: 1 }, maxAttempts: 1_000 };
    let failures = 0;
    await retry(
      () => this.#outbox.transaction((tx) => this.#outbox.save(tx, sample(number, facts))),
      {
        retries: Number.POSITIVE_INFINITY,
        backoff: { duration: 50 },
        shouldRetry: ({ error }) => !isDuplicate(error),
        onRetry: () => failures++,
      },
    ).catch((error: unknown) => {
      // The connection broke in the moment of the commit, which had come through.
      if (!isDuplicate(error)) throw error;
    });
    return failures;
  }

  /** Waits until so many outcomes of the kind are written. */
  async seen(type: OutboxEvent["type"], count: number): Promise<void> {
    const isDone = (): boolean => (this.events[type] ?? 0) >= count;
    await poll(isDone, { backoff: { duration: 5 }, timeout: 120_000 });
  }

  /** Waits until so many messages are confirmed, and none is anything else. */
  async confirmed(count: number): Promise<void> {
    const all = { pending: 0, retrying: 0, delivered: count, dead: 0 };
    const isDone = async (): Promise<boolean> =>
      JSON.stringify(await this.#store.counts()) === JSON.stringify(all);
    const onError = (): void => undefined; // the database is away
    await poll(isDone, { backoff: { duration: 100 }, timeout: 120_000, onError });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#runs);
    await this.#database[Symbol.asyncDispose]();
  }
}

function isDuplicate(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === UNIQUE_VIOLATION;
}
