import { type Kinds, methods, read, required } from "@holdfast/kit";
import { inPostgres } from "../postgres/postgres-outbox.ts";
import { POSTGRES_STORE_OPTIONS, type PostgresStoreOptions } from "../postgres/postgres-store.ts";
import {
  OUTBOX_SERVICE_OPTIONS,
  OutboxService,
  type OutboxServiceOptions,
} from "../service/outbox-service.ts";
import type { Queryable } from "../store/database.ts";
import { PGliteDatabase, type PGliteLike } from "./pglite-database.ts";

/** Options for {@link PGliteOutbox}. Durations are in milliseconds. */
export interface PGliteOutboxOptions extends OutboxServiceOptions, PostgresStoreOptions {
  /** A `PGlite`. The outbox does not close it. */
  readonly pglite: PGliteLike;
}

export const PGLITE_OUTBOX_OPTIONS: Kinds<PGliteOutboxOptions> = {
  ...OUTBOX_SERVICE_OPTIONS,
  ...POSTGRES_STORE_OPTIONS,
  pglite: required(methods("query", "transaction", "listen", "close")),
};

/**
 * An outbox in a PostgreSQL inside the process, as `PostgresOutbox` is one on a server: for tests with a real database, and
 * for programs without one. On a `FakeClock` an hour of it has some 6,000 statements, which take seconds: test long times
 * on a `MemoryOutbox`.
 *
 * @example
 * ```ts
 * import { PGlite } from "@electric-sql/pglite";
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { silentLogger } from "@holdfast/controller";
 * import { PGliteOutbox } from "@holdfast/outbox/pglite";
 *
 * const clock = new FakeClock(); // left out in a program
 * const publisher = { publish: async ({ payload }: { payload: unknown }) => console.log(payload) };
 * await using pglite = await PGlite.create();
 * const outbox = new PGliteOutbox({ name: "shop", pglite, publisher, clock, logger: silentLogger });
 * await outbox.migrate();
 * const stop = new AbortController();
 * const running = outbox.run(stop.signal);
 * const message = { topic: "orders.paid", key: "order/4711", payload: { paid: 12.5 }, delay: 60_000 };
 * await outbox.transaction((tx) => outbox.save(tx, message));
 * await clock.step(60_000); // => { paid: 12.5 }
 * stop.abort();
 * await clock.run(() => running);
 * ```
 */
export class PGliteOutbox extends OutboxService<Queryable> {
  /**
   * @param options - see {@link PGliteOutboxOptions}
   * @throws RangeError or TypeError that names the option
   */
  constructor(options: PGliteOutboxOptions) {
    const given = read("options", options, "PGliteOutbox", PGLITE_OUTBOX_OPTIONS);
    const { pglite, prefix: _prefix, schema: _schema, order: _order, ...service } = given;
    super(service, inPostgres(new PGliteDatabase(pglite), pglite, given));
  }
}
