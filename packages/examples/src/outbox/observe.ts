import type { ResourceLock } from "@holdfast/controller";
import type { MessageStatus } from "@holdfast/outbox";
import { z } from "zod";
import type { ProgramDatabase } from "./database/program-database.ts";

/** The messages that one worker has claimed. */
interface Claims {
  readonly worker: string;
  readonly count: number;
  /** When the first of its claims expires: milliseconds since the epoch. */
  readonly until: number;
}

/** The lock of the recovery task. Instants are milliseconds since the epoch. */
export interface Holding {
  readonly holder: string;
  readonly since: number;
  /** When others may take it, unless it is renewed. */
  readonly until: number;
}

/** The state of the tables of an outbox. */
export interface Observation {
  readonly claims: readonly Claims[];
  readonly statuses: Readonly<Record<MessageStatus, number>>;
  /** Undefined if the lock is free. */
  readonly lock: Holding | undefined;
}

/** The state before the first look. */
export const NOTHING_SEEN: Observation = {
  claims: [],
  statuses: { pending: 0, retrying: 0, delivered: 0, dead: 0 },
  lock: undefined,
};

/** The places {@link observe} reads. */
export interface Observed {
  readonly tables: Pick<ProgramDatabase, "database" | "dialect" | "store">;
  readonly lock: ResourceLock;
}

export async function observe(
  { tables, lock }: Observed,
  signal: AbortSignal,
): Promise<Observation> {
  return {
    statuses: await tables.store.counts(),
    claims: await readClaims(tables),
    lock: await holdingOf(lock, signal),
  };
}

// A driver may give a text for a number that could be too large.
const number = z.coerce.number();
const claimRows = z.array(z.object({ worker: z.string(), count: number, until: number }));

/** Claims of each worker. */
export async function readClaims({
  database,
  dialect,
}: Pick<ProgramDatabase, "database" | "dialect">): Promise<readonly Claims[]> {
  return claimRows.parse(
    await database.query(
      `SELECT claimed_by AS worker, count(*) AS count, min(${dialect.milliseconds("claimed_until")}) AS until
      FROM outbox_message WHERE claimed_by IS NOT NULL GROUP BY claimed_by ORDER BY claimed_by`,
    ),
  );
}

async function holdingOf(lock: ResourceLock, signal: AbortSignal): Promise<Holding | undefined> {
  const held = await lock.get(signal);
  if (!held?.record.holder) return undefined;
  const { holder, acquiredAt, renewedAt, leaseDuration } = held.record;
  return { holder, since: acquiredAt, until: renewedAt + leaseDuration };
}
