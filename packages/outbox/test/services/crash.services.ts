import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PGlite } from "@electric-sql/pglite";
import { realClock } from "@holdfast/clock";
import { MySqlLock } from "@holdfast/controller/mysql-lock";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import { MySqlDatabase } from "@holdfast/outbox/mysql";
import { PGliteDatabase } from "@holdfast/outbox/pglite";
import { PgDatabase } from "@holdfast/outbox/postgres";
import { type Database, delayAfter } from "@holdfast/outbox/store";
import { poll } from "@holdfast/wait";
import { seededRandom } from "@holdfast/wait/strategies";
import { createPool } from "mysql2/promise";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { makeDatabase } from "../../../../test/make-database.ts";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";
import * as mysql from "../../src/mysql/migrate.ts";
import * as postgres from "../../src/postgres/migrate.ts";
import { CrashReceiver, isRefused } from "./crash-receiver.ts";
import { connectTo, poolTo } from "./test-database.ts";

// In each round a process is started, given orders, and dies before or after a step of a message's way, or anywhere.
// Others take its messages over. In the end each committed order has had its effect, or was refused or cancelled, and no
// other; its consumer has had it once.

/** How many processes die; `ROUNDS=100` for a hundred. */
const ROUNDS = Number(process.env["ROUNDS"] ?? 11);
const ORDERS = 20;
const STEPS = [
  "before-commit",
  "after-commit",
  "before-publish",
  "after-publish",
  "before-mark",
  "after-mark",
  "before-effect",
  "before-cancel",
  "after-cancel",
] as const;
/** How long a process may take to get to its step before it is killed where it is, in milliseconds. */
const LATEST = 10_000;
/** Short, so that a message that is given up is so in seconds. */
const SCHEDULE = { backoff: { duration: 150, factor: 1.5 }, maxAttempts: 12 };

interface Kind {
  readonly kind: "postgres" | "mysql" | "pglite";
  /** How many go on while others die. PGlite is one process at a time. */
  readonly survivors: number;
  readonly make: () => Promise<string>;
  readonly open: (url: string) => Promise<Database>;
  /** Makes the tables of the outbox and of its lock. */
  readonly migrate: (url: string) => Promise<void>;
  /** Writes down each wait after a failure, as it was written. */
  readonly trigger: readonly string[];
  readonly uuid: string;
}

const TRIGGER = [
  `CREATE FUNCTION shop_observe() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO shop_wait VALUES (NEW.failed_attempts,
      extract(epoch FROM NEW.due_at - NEW.updated_at) * 1000, NEW.last_error);
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER shop_observe AFTER UPDATE ON outbox_message FOR EACH ROW
    WHEN (NEW.status = 'retrying' AND NEW.failed_attempts > OLD.failed_attempts)
    EXECUTE FUNCTION shop_observe()`,
];

async function isSettled(database: Database): Promise<boolean> {
  const [row] = await database.query(
    "SELECT count(*) AS open FROM outbox_message WHERE status IN ('pending', 'retrying')",
  );
  return Number(row?.["open"]) === 0;
}

const KINDS: readonly Kind[] = [
  {
    kind: "postgres",
    survivors: 2,
    make: () => makeDatabase(requiredUrl("DATABASE_URL")),
    open: async (url) => connectTo(url),
    migrate: async (url) => {
      const pool = poolTo(url);
      await using database = new PgDatabase(pool);
      await postgres.migrate(database);
      await new PostgresLock(pool, { name: "r" }).createTable();
    },
    trigger: TRIGGER,
    uuid: "uuid",
  },
  {
    kind: "mysql",
    survivors: 2,
    make: () => makeMySqlDatabase(requiredUrl("MYSQL_URL")),
    open: async (url) => new MySqlDatabase(createPool(url)),
    migrate: async (url) => {
      const pool = createPool(url);
      await using database = new MySqlDatabase(pool);
      await mysql.migrate(database);
      await new MySqlLock(pool, { name: "r" }).createTable();
    },
    trigger: [
      `CREATE TRIGGER shop_observe AFTER UPDATE ON outbox_message FOR EACH ROW
        INSERT INTO shop_wait
        SELECT NEW.failed_attempts, NEW.due_at - NEW.updated_at, NEW.last_error FROM DUAL
        WHERE NEW.status = 'retrying' AND NEW.failed_attempts > OLD.failed_attempts`,
    ],
    uuid: "CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
  },
  {
    kind: "pglite",
    survivors: 0,
    make: async () => {
      const folder = join(tempFolder(onTestFinished), "pglite");
      await (await PGlite.create(folder)).close();
      return folder;
    },
    open: async (folder) => new PGliteDatabase(await PGlite.create(folder)),
    migrate: async (folder) => {
      await using database = new PGliteDatabase(await PGlite.create(folder));
      await postgres.migrate(database);
    },
    trigger: TRIGGER,
    uuid: "uuid",
  },
];

const isTakenBack = (order: number): boolean => order % 10 === 9;
/** Whether an order is placed, and its message taken back if no relay has it. */
const isCancelled = (order: number): boolean => order % 10 === 7;

/** A process of crash-worker.mjs, and the orders it has not said to be placed. */
class Worker {
  readonly open = new Set<number>();
  readonly exited: Promise<NodeJS.Signals | number | null>;
  readonly #child: ChildProcess;
  readonly #ready: Promise<unknown>;

  constructor(options: object) {
    const file = fileURLToPath(new URL("./crash-worker.mjs", import.meta.url));
    this.#child = fork(file, [JSON.stringify({ ...options, schedule: SCHEDULE })], {
      execArgv: [],
    });
    this.#child.on("message", ({ placed }: { readonly placed?: number }) => {
      if (placed !== undefined) this.open.delete(placed);
    });
    this.#child.on("error", () => {}); // A message to one that is gone: its exit says so.
    const exited = once(this.#child, "exit");
    this.#ready = Promise.race([once(this.#child, "message"), exited]);
    this.exited = exited.then(([code, signal]) => signal ?? code);
  }

  async place(orders: Iterable<number>): Promise<void> {
    await this.#ready;
    for (const order of orders) {
      this.open.add(order);
      if (this.#child.connected)
        this.#child.send(
          { order, isTakenBack: isTakenBack(order), isCancelled: isCancelled(order) },
          () => {},
        );
    }
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  stop(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}

describe.each(KINDS)("processes that die at every step, on $kind", (given) => {
  const { kind, survivors, make, open, migrate, trigger, uuid } = given;

  it(
    `lose no message and send none twice unnoticed, in ${ROUNDS} rounds`,
    async () => {
      const seed = inject("seed");
      const random = seededRandom(seed);
      const draw = (limit: number): number => Math.floor(random() * limit);
      const url = await make();
      await migrate(url);
      {
        await using database = await open(url);
        for (const statement of [
          `CREATE TABLE shop_order (number INT PRIMARY KEY, message_id ${uuid} NOT NULL)`,
          `CREATE TABLE shop_effect (message_id ${uuid} NOT NULL)`,
          `CREATE TABLE shop_cancelled (message_id ${uuid} NOT NULL)`,
          "CREATE TABLE shop_wait (failures INT NOT NULL, wait DOUBLE PRECISION NOT NULL, error TEXT NOT NULL)",
          ...trigger,
        ])
          await database.query(statement);
      }
      await using receiver = await CrashReceiver.start(seed);
      const optionsOf = (name: string) => ({ name, kind, url, target: receiver.url });
      const helpers = Array.from(
        { length: survivors },
        (_, n) => new Worker(optionsOf(`helper-${n}`)),
      );
      onTestFinished(() => {
        for (const worker of helpers) worker.kill();
      });

      const deaths: string[] = [];
      let left: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const step = STEPS[round % (STEPS.length + 1)];
        const crash =
          step === undefined
            ? undefined
            : { step, count: 1 + draw(/cancel/.test(step) ? 2 : ORDERS / 2) };
        const victim = new Worker({ ...optionsOf(`victim-${round}`), crash });
        const orders = Array.from({ length: ORDERS }, (_, n) => round * ORDERS + n + 1);
        await victim.place([...left, ...orders]);
        const after = crash === undefined ? draw(400) : LATEST;
        using _limit = realClock.afterFunc(after, () => victim.kill(), { label: "victim" });
        expect(await victim.exited).toBe("SIGKILL");
        deaths.push(`${crash?.step ?? "anywhere"}:${crash?.count ?? after}`);
        left = [...victim.open];
        // Without survivors the next one has them.
        if (helpers.length > 0) await helpers[round % helpers.length]?.place(left.splice(0));
      }
      if (helpers.length === 0) helpers.push(new Worker(optionsOf("last")));
      await helpers[0]?.place(left);
      const all = Array.from({ length: ROUNDS * ORDERS }, (_, n) => n + 1);
      const ends = all.length - all.filter(isTakenBack).length;
      await poll(() => helpers.every((worker) => worker.open.size === 0), {
        backoff: { duration: 100 },
        timeout: 120_000 + 6_000 * ROUNDS,
      });
      if (kind === "pglite") {
        // Nobody else can look while the process has the folder open.
        const accepted = all.filter(
          (order) => !isTakenBack(order) && !isRefused(order) && !isCancelled(order),
        ).length;
        await poll(() => receiver.effects.size >= accepted, {
          backoff: { duration: 250 },
          timeout: 240_000 + 10_000 * ROUNDS,
        });
      } else {
        await using database = await open(url);
        await poll(() => isSettled(database), {
          backoff: { duration: 250 },
          timeout: 240_000 + 10_000 * ROUNDS,
        });
      }
      const end = async (): Promise<boolean> => {
        for (const worker of helpers) worker.stop();
        for (const worker of helpers) expect(await worker.exited).toBe(0);
        await using database = await open(url);
        return await isSettled(database);
      };
      while (!(await end())) {
        // Those that the receiver refuses take more attempts.
        const last = new Worker(optionsOf("last"));
        helpers.splice(0, helpers.length, last);
        await last.place([]); // resolves when it is ready
        await realClock.sleep(2_000);
      }

      await using database = await open(url);
      const rows = await database.query(
        `SELECT o.number, o.message_id AS id, m.status, m.failed_attempts AS failures, m.expired_claims AS expired,
            (SELECT count(*) FROM shop_effect e WHERE e.message_id = o.message_id) AS effects,
            (SELECT count(*) FROM shop_cancelled c WHERE c.message_id = o.message_id) AS cancelled
          FROM shop_order o LEFT JOIN outbox_message m ON m.id = o.message_id ORDER BY o.number`,
      );
      const found = rows.map((row) => ({
        order: Number(row["number"]),
        id: String(row["id"]),
        status: row["status"],
        effects: Number(row["effects"]),
        isCancelled: Number(row["cancelled"]) > 0,
        isExhausted: Number(row["failures"]) >= SCHEDULE.maxAttempts || Number(row["expired"]) >= 4,
      }));
      const context = `seed ${seed}, ${deaths.join(", ")}`;
      expect(
        found.map(({ order }) => order),
        context,
      ).toEqual(all.filter((order) => !isTakenBack(order)));
      const cancelled = found.filter((each) => each.isCancelled);
      const lost = found.filter(
        ({ order, id, status, effects, ...is }) =>
          !is.isCancelled &&
          !(status === "delivered" && receiver.effects.has(id) && effects === 1) &&
          !(status === "dead" && (isRefused(order) || is.isExhausted)),
      );
      expect(lost, context).toEqual([]);
      expect(
        found.filter(({ effects }) => effects > 1),
        context,
      ).toEqual([]);
      expect(
        cancelled.filter(({ id, status }) => status !== null || receiver.attempts.has(id)),
        context,
      ).toEqual([]);
      const committed = new Set(found.map(({ id }) => id));
      expect(
        [...receiver.attempts.keys()].filter((id) => !committed.has(id)),
        context,
      ).toEqual([]);
      const waits = await database.query("SELECT failures, wait, error FROM shop_wait");
      expect(waits.length).toBeGreaterThan(0);
      expect(
        waits.filter((row) => !isPlanned(row)),
        context,
      ).toEqual([]);
      console.log(
        `${kind}: ${ends} orders, ${cancelled.length} cancelled, ${receiver.duplicates} duplicates, ${waits.length} waits; ${context}`,
      );
    },
    120_000 + 60_000 * ROUNDS,
  );
});

/** Whether a wait is that of the schedule, up to a tenth longer, or what the receiver asked for. */
function isPlanned(row: Readonly<Record<string, unknown>>): boolean {
  const wait = Number(row["wait"]);
  const least = delayAfter(Number(row["failures"]), {
    ...SCHEDULE.backoff,
    cap: Number.POSITIVE_INFINITY,
  });
  const asked = / (429|503) /.test(String(row["error"])) ? 1_000 : 0;
  const most = Math.max(least * 1.1, asked) + 2; // both ends are whole milliseconds
  return wait >= Math.max(least, asked) && wait <= most;
}
