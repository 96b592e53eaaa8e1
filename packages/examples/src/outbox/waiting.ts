import { z } from "zod";
import type { ProgramDatabase } from "./database/program-database.ts";

/** The number of next attempts that are read. */
const NEXT = 6;

/** Messages that have failed equally often, and wait for their next attempt. */
export interface Rung {
  readonly failures: number;
  readonly count: number;
  /** When the first of them is due: milliseconds since the epoch. */
  readonly nextAt: number;
}

/** An attempt to come. */
export interface NextAttempt {
  readonly order: string;
  /** The number of failed attempts before it. */
  readonly failures: number;
  /** When it is due: milliseconds since the epoch. */
  readonly at: number;
  /** Error of the last failed attempt. */
  readonly error: string | undefined;
}

/** The messages that one worker has claimed. */
interface Claims {
  readonly worker: string;
  readonly count: number;
  /** When the first of its claims ends: milliseconds since the epoch. */
  readonly until: number;
}

/** The messages that are still to be sent. */
export interface Waiting {
  /** The number of those that are due and not claimed. */
  readonly due: number;
  /** Those that wait, by the number of their failures. */
  readonly rungs: readonly Rung[];
  /** The next attempts, the earliest first. */
  readonly next: readonly NextAttempt[];
  readonly claims: readonly Claims[];
}

export const NOTHING_WAITS: Waiting = { due: 0, rungs: [], next: [], claims: [] };

// A driver may give a text for a number that could be too large.
const number = z.coerce.number();
const rungRows = z.array(z.object({ failures: z.int(), count: number, due: number, next: number }));
const nextRows = z.array(
  z.object({ order_key: z.string(), failures: z.int(), at: number, error: z.string().nullable() }),
);
const claimRows = z.array(z.object({ worker: z.string(), count: number, until: number }));

const OPEN = "due_at IS NOT NULL";

/** Reads the waiting messages, at an instant in milliseconds since the epoch. */
export async function readWaiting(
  { database, dialect }: Pick<ProgramDatabase, "database" | "dialect">,
  now: number,
): Promise<Waiting> {
  const at = dialect.milliseconds("due_at");
  const rungs = rungRows.parse(
    await database.query(
      `SELECT failed_attempts AS failures, count(*) AS count, min(${at}) AS next,
        sum(CASE WHEN ${at} <= ${dialect.parameter(1)} THEN 1 ELSE 0 END) AS due
      FROM outbox_message WHERE claimed_by IS NULL AND ${OPEN}
      GROUP BY failed_attempts ORDER BY failed_attempts`,
      [now],
    ),
  );
  const next = nextRows.parse(
    await database.query(
      `SELECT ${dialect.key} AS order_key, failed_attempts AS failures, ${at} AS at, last_error AS error
      FROM outbox_message WHERE claimed_by IS NULL AND ${OPEN}
      ORDER BY due_at LIMIT ${NEXT}`,
    ),
  );
  const claims = claimRows.parse(
    await database.query(
      `SELECT claimed_by AS worker, count(*) AS count, min(${dialect.milliseconds("claimed_until")}) AS until
      FROM outbox_message WHERE claimed_by IS NOT NULL GROUP BY claimed_by ORDER BY claimed_by`,
    ),
  );
  return {
    due: rungs.reduce((sum, { due }) => sum + due, 0),
    rungs: rungs.map(({ failures, count, next: nextAt }) => ({ failures, count, nextAt })),
    next: next.map(({ order_key: order, failures, at: instant, error }) => {
      return { order, failures, at: instant, error: error ?? undefined };
    }),
    claims,
  };
}
