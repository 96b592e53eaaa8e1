import { randomUUID } from "node:crypto";
import { MySqlStore, migrate as migrateMySql } from "@holdfast/outbox/mysql";
import { migrate, PostgresStore } from "@holdfast/outbox/postgres";
import type { Database, Queryable } from "@holdfast/outbox/store";
import { describe, it } from "vitest";
import { oldEnough } from "../../../../services/redis.mjs";
import { makeDatabase } from "../../../../test/make-database.ts";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { connectToMySql } from "../mysql/connect-to-mysql.ts";
import { sample } from "../sample.ts";
import { type ConnectedStore, connectedStore } from "./connected-store.ts";
import { Holder } from "./holder.ts";
import { connectTo } from "./test-database.ts";

/** As in `holder.mjs`, in milliseconds. */
const LEASE = 5_000;
const RENEW_DEADLINE = 3_500;

/** More than the holders get through. */
const ORPHANS = 5_000;

/** How a kind of database is made and reached. */
interface Kind {
  make(): Promise<string>;
  connect(url: string): Database;
  /** Makes its tables, and a store in them. */
  open(url: string): Promise<ConnectedStore<Queryable>>;
}

const postgres: Kind = {
  make: () => makeDatabase(requiredUrl("DATABASE_URL")),
  connect: connectTo,
  async open(url) {
    const database = connectTo(url);
    await migrate(database);
    return connectedStore(database, new PostgresStore(database));
  },
};

const mysql: Kind = {
  make: () => makeMySqlDatabase(requiredUrl("MYSQL_URL")),
  connect: connectToMySql,
  async open(url) {
    const database = connectToMySql(url);
    await migrateMySql(database);
    return connectedStore(database, new MySqlStore(database));
  },
};

const KINDS = { postgres, mysql, redis: postgres };

/** A database with messages whose relay has died. */
async function orphaned({ make, open }: Kind): Promise<string> {
  const url = await make();
  await using own = await open(url);
  await own.transaction(async (tx) => {
    for (let number = 1; number <= ORPHANS; number++) await own.store.save(tx, sample(number), 0);
  });
  await own.store.claim({ ...{ relay: "dead", now: 20_000, until: 30_000 }, limit: ORPHANS });
  return url;
}

/** How many writes of a term there are. */
async function writesOf(token: number, { connect }: Kind, url: string): Promise<number> {
  await using database = connect(url);
  const [row] = await database.query(
    `SELECT count(*) AS count FROM outbox_message WHERE last_error = 'token ${token}'`,
  );
  return Number(row?.["count"]);
}

describe.concurrent("a holder of a lock", () => {
  it.for([
    { kind: "postgres", asleep: "outside" },
    { kind: "postgres", asleep: "inside" },
    { kind: "mysql", asleep: "outside" },
    { kind: "mysql", asleep: "inside" },
    { kind: "redis", asleep: "outside" },
  ] as const)(
    "in $kind cannot write after it slept past its lease, $asleep of a write, and is replaced when it is killed",
    async ({ kind, asleep }, { expect }) => {
      const database = await orphaned(KINDS[kind]);
      await oldEnough(requiredUrl("REDIS_URL"), LEASE);
      const facts = { kind, name: randomUUID(), database };
      await using first = new Holder({ ...facts, identity: "a", asleep });
      const { token } = await first.says("wrote");
      await using second = new Holder({ ...facts, identity: "b", asleep: "outside" });

      // The first one sleeps past its lease, and the second one writes.
      if (asleep === "outside") first.signal("SIGSTOP");
      const replaced = await second.says("wrote", (newer) => newer > token);
      const before = await writesOf(token, KINDS[kind], database);
      expect(before).toBeGreaterThan(0);
      first.signal("SIGCONT");
      await first.says("refused", (refused) => refused === token);
      expect(await writesOf(token, KINDS[kind], database)).toBe(before);

      // The second one dies, and the first one takes over, with a newer token.
      const killedAt = second.lines.at(-1)?.at ?? Number.NaN;
      second.signal("SIGKILL");
      const again = await first.says("leads", (newer) => newer > replaced.token);
      await first.says("wrote", (newer) => newer === again.token);
      console.log(`${kind}: replaced ${Math.round(again.at - killedAt)} ms after its last write`);
      // Who leads has renewed within the deadline.
      expect(again.at - killedAt).toBeGreaterThan(LEASE - RENEW_DEADLINE);
    },
  );
});
