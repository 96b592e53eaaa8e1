import type { Clock } from "@holdfast/clock";
import pg from "pg";
import { PgDatabase } from "../database/pg-database.ts";
import { PostgresStore } from "../store/postgres-store.ts";

/** What {@link replay} is told. */
export interface ReplayOptions {
  /** All dead messages if undefined. */
  readonly ids: readonly string[] | undefined;
  readonly databaseUrl: string;
  readonly clock: Clock;
}

/**
 * Makes dead messages pending again. Relays that run find them.
 *
 * @returns how many
 */
export async function replay({ ids, databaseUrl, clock }: ReplayOptions): Promise<number> {
  await using database = new PgDatabase(new pg.Pool({ connectionString: databaseUrl }));
  const store = new PostgresStore(database);
  return await store.replay({ ids, editor: "replay", now: clock.now() });
}
