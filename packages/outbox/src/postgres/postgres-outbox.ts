import { type PostgresClient, PostgresLock } from "@holdfast/controller/postgres-lock";
import { type Kinds, methods, read, required } from "@holdfast/kit";
import {
  type Backend,
  lockNameOf,
  OUTBOX_SERVICE_OPTIONS,
  OutboxService,
  type OutboxServiceOptions,
  onPoolError,
} from "../service/outbox-service.ts";
import type { Queryable } from "../store/database.ts";
import { lockTable, migrate } from "./migrate.ts";
import { PgDatabase, type PgPool } from "./pg-database.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import {
  POSTGRES_STORE_OPTIONS,
  PostgresStore,
  type PostgresStoreOptions,
} from "./postgres-store.ts";

/** Options for {@link PostgresOutbox}. Durations are in milliseconds. */
export interface PostgresOutboxOptions extends OutboxServiceOptions, PostgresStoreOptions {
  /** A pool of `pg`; its settings are those that {@link PgDatabase} names. The outbox does not end it. */
  readonly pool: PgPool;
}

export const POSTGRES_OUTBOX_OPTIONS: Kinds<PostgresOutboxOptions> = {
  ...OUTBOX_SERVICE_OPTIONS,
  ...POSTGRES_STORE_OPTIONS,
  pool: required(methods("connect", "query", "on", "end")),
};

/**
 * An outbox in PostgreSQL 12 or later: it saves messages in your transactions, sends them until the receiver confirms,
 * takes over those of processes that died, and removes old ones.
 *
 * @example
 * ```ts no-run
 * import { PostgresOutbox } from "@holdfast/outbox/postgres";
 * import { WebhookPublisher } from "@holdfast/outbox/webhook";
 * import pg from "pg";
 *
 * const pool = new pg.Pool({ connectionTimeoutMillis: 5_000, statement_timeout: 5_000, query_timeout: 30_000 });
 * const publisher = new WebhookPublisher({ url: "https://receiver.example/hooks" });
 * const outbox = new PostgresOutbox({ name: "shop", pool, publisher });
 * await outbox.migrate();
 * const running = outbox.run(AbortSignal.timeout(60_000));
 * await outbox.transaction(async (tx) => {
 *   await tx.query("UPDATE orders SET paid = true WHERE number = $1", [4711]);
 *   await outbox.save(tx, { topic: "orders.paid", key: "order/4711", payload: { paid: 12.5 } });
 * });
 * await running;
 * ```
 */
export class PostgresOutbox extends OutboxService<Queryable> {
  /**
   * @param options - see {@link PostgresOutboxOptions}
   * @throws RangeError or TypeError that names the option
   */
  constructor(options: PostgresOutboxOptions) {
    const given = read("options", options, "PostgresOutbox", POSTGRES_OUTBOX_OPTIONS);
    const { pool, prefix, schema, order, ...service } = given;
    const database = new PgDatabase(pool, onPoolError(service));
    super(service, inPostgres(database, pool, given));
  }
}

/** The tables of an outbox and its lock, in one database. */
export function inPostgres(
  database: PostgresDatabase,
  client: PostgresClient,
  { prefix, schema, order, random }: PostgresStoreOptions & Pick<OutboxServiceOptions, "random">,
): Backend<Queryable> {
  return {
    store: new PostgresStore(database, { prefix, schema, order }),
    lock: new PostgresLock(client, {
      name: lockNameOf(prefix),
      table: lockTable({ schema }),
      random,
    }),
    transaction: (work) => database.transaction(work),
    migrate: () => migrate(database, { prefix, schema }),
  };
}
