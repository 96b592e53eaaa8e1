import { silentLogger } from "@holdfast/controller";
import type { OutboxService, OutboxServiceOptions } from "@holdfast/outbox";
import { MySqlOutbox } from "@holdfast/outbox/mysql";
import { PostgresOutbox } from "@holdfast/outbox/postgres";
import type { Queryable } from "@holdfast/outbox/store";
import { RecordingPublisher } from "@holdfast/outbox/testing";
import { createPool } from "mysql2/promise";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeDatabase } from "../../../../test/make-database.ts";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { idOf, sample } from "../sample.ts";
import { poolTo } from "../services/test-database.ts";

/** How the outbox of a database is opened, more than once. */
interface Kind {
  make(): Promise<string>;
  open(url: string, options: OutboxServiceOptions): OutboxService<Queryable>;
}

const KINDS: Record<string, Kind> = {
  PostgresOutbox: {
    make: () => makeDatabase(requiredUrl("DATABASE_URL")),
    open(url, options) {
      const pool = poolTo(url);
      onTestFinished(() => pool.end());
      return new PostgresOutbox({ ...options, pool });
    },
  },
  MySqlOutbox: {
    make: () => makeMySqlDatabase(requiredUrl("MYSQL_URL")),
    open(url, options) {
      const pool = createPool(url);
      onTestFinished(() => pool.end());
      return new MySqlOutbox({ ...options, pool });
    },
  },
};

const statusOf = async (outbox: OutboxService<Queryable>, number: number) =>
  (await outbox.store.find(idOf(number)))?.status;

/** Runs until the test is over. */
function start(outbox: OutboxService<Queryable>): void {
  const stop = new AbortController();
  const running = outbox.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
}

describe.each(Object.entries(KINDS))("%s", (_, { make, open }) => {
  it("makes its tables once, saves with a change, sends, and stops", async () => {
    const url = await make();
    const publisher = new RecordingPublisher();
    const options = { name: "shop", publisher, pollInterval: 200, logger: silentLogger };
    const [outbox, other] = [open(url, options), open(url, options)];
    const applied = await Promise.all([outbox.migrate(), other.migrate()]);
    expect(applied.filter((numbers) => numbers.length > 0)).toHaveLength(1);
    expect(await outbox.migrate()).toEqual([]);
    const stop = new AbortController();
    const running = Promise.all([outbox.run(stop.signal), other.run(stop.signal)]);
    await outbox.transaction(async (tx) => {
      await tx.query("CREATE TEMPORARY TABLE orders (number integer)");
      await outbox.save(tx, sample(1));
    });
    await expect.poll(async () => await statusOf(outbox, 1)).toBe("delivered");
    expect(publisher.attempts).toHaveLength(1);
    stop.abort();
    await running;
    expect([outbox.status().state, other.status().state]).toEqual(["stopped", "stopped"]);
  });

  it("takes over the message of a relay that died", async () => {
    const url = await make();
    const publisher = new RecordingPublisher();
    const outbox = open(url, { name: "shop", publisher, pollInterval: 200, logger: silentLogger });
    await outbox.migrate();
    await outbox.transaction((tx) => outbox.save(tx, sample(1)));
    const now = Date.now();
    const claimed = await outbox.store.claim({ relay: "dead", now, until: now + 1, limit: 1 });
    expect(claimed.claims).toHaveLength(1);
    start(outbox);
    await expect.poll(() => publisher.attempts).toHaveLength(1);
  });

  it("saves, cancels and handles once, beside another process that does the same", async () => {
    const url = await make();
    const publisher = new RecordingPublisher();
    const common = { name: "shop", pollInterval: 200, logger: silentLogger };
    const both = [open(url, { ...common, publisher }), open(url, common)] as const;
    await both[0].migrate();
    await both[0].transaction((tx) => tx.query("CREATE TABLE effects (number integer)"));
    start(both[0]);
    const unique = { key: "reminder", within: 60_000 };
    const saved = await Promise.all(
      both.map((each, i) =>
        each.transaction((tx) =>
          each.save(tx, [sample(i + 1, { unique, delay: 60_000 }), sample(9, { delay: 500 })]),
        ),
      ),
    );
    expect(saved.map(([first]) => first?.isNew).sort()).toEqual([false, true]);
    expect(saved.map(([, second]) => second?.isNew).sort()).toEqual([false, true]);
    const id = String(saved[0]?.[0]?.id);
    expect(saved[1]?.[0]?.id).toBe(id);
    const cancelled = await Promise.all(
      both.map((each) => each.transaction((tx) => each.cancel(id, tx))),
    );
    expect(cancelled.sort()).toEqual([false, true]);
    const handled = await Promise.all(
      [0, 1, 0, 1].map((i) =>
        both[i as 0 | 1].once(idOf(1), (tx) => tx.query("INSERT INTO effects VALUES (1)")),
      ),
    );
    expect(handled.filter(Boolean)).toHaveLength(1);
    const effects = await both[1].transaction((tx) => tx.query("SELECT number FROM effects"));
    expect(effects).toHaveLength(1);
    await expect.poll(async () => await statusOf(both[0], 9)).toBe("delivered");
    expect(publisher.attempts.map(({ message }) => message.id)).toEqual([idOf(9)]);
  });

  it("lets a process without a publisher save for others", async () => {
    const url = await make();
    const publisher = new RecordingPublisher();
    const common = { name: "shop", pollInterval: 200, logger: silentLogger };
    const [saves, sends] = [open(url, common), open(url, { ...common, publisher })];
    await saves.migrate();
    start(sends);
    await saves.transaction((tx) => saves.save(tx, sample(1)));
    await expect.poll(() => publisher.attempts).toHaveLength(1);
  });
});
