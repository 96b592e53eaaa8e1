import { realClock } from "@holdfast/clock";
import { MemoryLock, silentLogger } from "@holdfast/controller";
import { Recovery, Relay } from "@holdfast/outbox";
import * as mysql from "@holdfast/outbox/mysql";
import * as postgres from "@holdfast/outbox/postgres";
import type { Database, OutboxStore, Queryable } from "@holdfast/outbox/store";
import { poll } from "@holdfast/wait";
import { describe, expect, it } from "vitest";
import { makeDatabase } from "../../../../test/make-database.ts";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { connectToMySql } from "../mysql/connect-to-mysql.ts";
import { sample } from "../sample.ts";
import { Receiver } from "./relays.contract.ts";
import { type ReleasedStore, releasedMySql, releasedPostgres } from "./released-store.ts";
import { connectTo } from "./test-database.ts";

const EACH = 150;

interface Both {
  readonly database: Database;
  readonly released: ReleasedStore;
  readonly current: OutboxStore<Queryable>;
}

const KINDS: Record<string, () => Promise<Both>> = {
  async PostgreSQL() {
    const database = connectTo(await makeDatabase(requiredUrl("DATABASE_URL")));
    await postgres.migrate(database);
    const current = new postgres.PostgresStore(database);
    return { database, released: releasedPostgres(database), current };
  },
  async MariaDB() {
    const database = connectToMySql(await makeMySqlDatabase(requiredUrl("MYSQL_URL")));
    await mysql.migrate(database);
    // As the store does: a transaction of InnoDB at its default level would lock the gaps between rows.
    const own = {
      ...database,
      query: database.query.bind(database),
      transaction: database.readCommitted.bind(database),
    };
    const current = new mysql.MySqlStore(database);
    return { database, released: releasedMySql(own as never), current };
  },
};

describe.each(Object.entries(KINDS))("a roll-out on %s", (_, open) => {
  it("lets relays of the version before work beside those of this one: nothing is lost, nothing sent twice", async () => {
    const { database, released, current } = await open();
    await using _database = database;
    const now = Date.now() - 60_000;
    const ids: string[] = [];
    const facts = { backoff: { duration: 20, factor: 1 }, maxAttempts: 100 };
    for (let number = 1; number <= EACH; number++)
      ids.push(await released.insert(sample(number), now));
    await database.transaction(async (tx) => {
      for (let number = 1; number <= EACH; number++)
        ids.push((await current.save(tx, sample(number, facts), now)).id);
    });
    // A relay of each version dies with messages whose attempt has not begun.
    for (const store of [released, current]) {
      const claimed = await store.claim({
        relay: "dead",
        now,
        until: now + 1,
        limit: 20,
        hasExpired: false,
      });
      expect(claimed.claims).toHaveLength(20);
    }

    const receiver = new Receiver();
    const stop = new AbortController();
    const options = { publisher: receiver, pollInterval: 50, clockSkew: 0, logger: silentLogger };
    const relays = [released, current, released].map((store, at) =>
      new Relay({ ...options, name: `relay-${at}`, store: store as OutboxStore<Queryable> }).run(
        stop.signal,
      ),
    );
    const recovery = new Recovery({
      name: "recovery",
      store: current,
      lock: new MemoryLock(),
      interval: 50,
      minRound: 0,
      logger: silentLogger,
    }).run(stop.signal);
    const isDone = async (): Promise<boolean> => (await current.counts()).delivered === 2 * EACH;
    await poll(isDone, { backoff: { duration: 50 }, timeout: 120_000, clock: realClock });
    stop.abort();
    await Promise.all([...relays, recovery]);
    expect(receiver.overlaps).toBe(0);
    expect(receiver.delivered.toSorted()).toEqual(ids.toSorted());
  });
});
