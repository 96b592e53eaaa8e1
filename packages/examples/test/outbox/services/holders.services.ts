import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { describe, it } from "vitest";
import { migrate } from "../../../src/outbox/database/migrate.ts";
import { PostgresStore } from "../../../src/outbox/store/postgres-store.ts";
import { sample } from "../sample.ts";
import { Holder } from "./holder.ts";
import { oldEnough } from "./old-enough.ts";
import { requiredUrl } from "./required-url.ts";
import { connectTo, makeDatabase } from "./test-database.ts";

/** As in `holder.mjs`, in milliseconds. */
const LEASE = 5_000;

/** More than the holders get through. */
const ORPHANS = 5_000;

/** A database with messages whose relay has died. */
async function orphaned(): Promise<string> {
  const url = await makeDatabase(requiredUrl("DATABASE_URL"));
  await using database = connectTo(url);
  await migrate(database);
  const store = new PostgresStore(database);
  await database.transaction(async (tx) => {
    for (let number = 1; number <= ORPHANS; number++) await store.save(tx, sample(number), 0);
  });
  await store.claimDue({ worker: "dead", now: 20_000, until: 30_000 }, ORPHANS);
  return url;
}

/** How many writes of a term there are. */
async function writesOf(token: number, url: string): Promise<unknown> {
  await using database = connectTo(url);
  const text = "SELECT count(*)::int AS count FROM outbox_message WHERE last_error = $1";
  const [row] = await database.query(text, [`token ${token}`]);
  return row?.["count"];
}

describe.concurrent("a holder of a lock", () => {
  it.for([
    { kind: "postgres", asleep: "outside" },
    { kind: "postgres", asleep: "inside" },
    { kind: "redis", asleep: "outside" },
  ] as const)(
    "in $kind cannot write after it slept past its lease, $asleep of a write, and is replaced when it is killed",
    async ({ kind, asleep }, { expect }) => {
      const database = await orphaned();
      const redis = new Redis(requiredUrl("REDIS_URL"));
      await oldEnough(redis, LEASE);
      redis.disconnect();
      const facts = { kind, name: randomUUID(), database };
      await using first = new Holder({ ...facts, identity: "a", asleep });
      const { token } = await first.says("wrote");
      await using second = new Holder({ ...facts, identity: "b", asleep: "outside" });

      // The first one sleeps past its lease, and the second one writes.
      if (asleep === "outside") first.signal("SIGSTOP");
      const replaced = await second.says("wrote", (newer) => newer > token);
      const before = await writesOf(token, database);
      expect(before).toBeGreaterThan(0);
      first.signal("SIGCONT");
      await first.says("refused", (refused) => refused === token);
      expect(await writesOf(token, database)).toBe(before);

      // The second one dies, and the first one takes over, with a newer token.
      const killedAt = second.lines.at(-1)?.at ?? Number.NaN;
      second.signal("SIGKILL");
      const again = await first.says("leads", (newer) => newer > replaced.token);
      await first.says("wrote", (newer) => newer === again.token);
      console.log(`${kind}: replaced ${Math.round(again.at - killedAt)} ms after its last write`);
      // A renewal may be up to a retry period old; a busy machine adds to what comes after.
      expect(again.at - killedAt).toBeGreaterThan(LEASE - 1_000);
      expect(again.at - killedAt).toBeLessThan(LEASE + 20_000);
    },
  );
});
