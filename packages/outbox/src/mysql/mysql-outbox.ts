import { MySqlLock } from "@holdfast/controller/mysql-lock";
import { type Kinds, methods, read, required } from "@holdfast/kit";
import {
  lockNameOf,
  OUTBOX_SERVICE_OPTIONS,
  OutboxService,
  type OutboxServiceOptions,
  onPoolError,
} from "../service/outbox-service.ts";
import type { Queryable } from "../store/database.ts";
import { migrate } from "./migrate.ts";
import { MySqlDatabase, type MySqlPool } from "./mysql-database.ts";
import { MY_SQL_STORE_OPTIONS, MySqlStore, type MySqlStoreOptions } from "./mysql-store.ts";

/** Options for {@link MySqlOutbox}. Durations are in milliseconds. */
export interface MySqlOutboxOptions extends OutboxServiceOptions, Omit<MySqlStoreOptions, "clock"> {
  /** A new pool of `mysql2/promise`. The outbox does not end it. */
  readonly pool: MySqlPool;
}

export const MY_SQL_OUTBOX_OPTIONS: Kinds<MySqlOutboxOptions> = {
  ...MY_SQL_STORE_OPTIONS,
  ...OUTBOX_SERVICE_OPTIONS,
  pool: required(methods("getConnection", "query", "execute", "on", "end")),
};

/**
 * An outbox in MySQL 8 or MariaDB 10.6 or later: it saves messages in your transactions, sends them until the receiver
 * confirms, takes over those of processes that died, and removes old ones.
 *
 * @example
 * ```ts no-run
 * import { MySqlOutbox } from "@holdfast/outbox/mysql";
 * import { WebhookPublisher } from "@holdfast/outbox/webhook";
 * import { createPool } from "mysql2/promise";
 *
 * const pool = createPool("mysql://shop@127.0.0.1/shop");
 * const publisher = new WebhookPublisher({ url: "https://receiver.example/hooks" });
 * const outbox = new MySqlOutbox({ name: "shop", pool, publisher });
 * await outbox.migrate();
 * const running = outbox.run(AbortSignal.timeout(60_000));
 * await outbox.transaction(async (tx) => {
 *   await tx.query("UPDATE orders SET paid = true WHERE number = ?", [4711]);
 *   await outbox.save(tx, { topic: "orders.paid", key: "order/4711", payload: { paid: 12.5 } });
 * });
 * await running;
 * ```
 */
export class MySqlOutbox extends OutboxService<Queryable> {
  /**
   * @param options - see {@link MySqlOutboxOptions}
   * @throws RangeError or TypeError that names the option
   */
  constructor(options: MySqlOutboxOptions) {
    const given = read("options", options, "MySqlOutbox", MY_SQL_OUTBOX_OPTIONS);
    const { pool, prefix, order, ...service } = given;
    const { clock, random } = service;
    const database = new MySqlDatabase(pool, onPoolError(service));
    super(service, {
      store: new MySqlStore(database, { prefix, order, clock }),
      lock: new MySqlLock(pool, { name: lockNameOf(prefix), random }),
      transaction: (work) => database.transaction(work),
      migrate: () => migrate(database, { prefix }),
    });
  }
}
