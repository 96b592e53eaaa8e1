import { z } from "zod";
import type { ProgramDatabase } from "./database/program-database.ts";

/** The messages that one worker has claimed. */
interface Claims {
  readonly worker: string;
  readonly count: number;
  /** When the first of its claims expires: milliseconds since the epoch. */
  readonly until: number;
}

/** The messages that are still to be sent. */
export interface Waiting {
  /** The number of those that are due and not claimed. */
  readonly due: number;
  readonly claims: readonly Claims[];
}

export const NOTHING_WAITS: Waiting = { due: 0, claims: [] };

// A driver may give a text for a number that could be too large.
const number = z.coerce.number();
const dueRows = z.tuple([z.object({ due: number })]);
const claimRows = z.array(z.object({ worker: z.string(), count: number, until: number }));

/** Reads the waiting messages, at an instant in milliseconds since the epoch. */
export async function readWaiting(
  { database, dialect }: Pick<ProgramDatabase, "database" | "dialect">,
  now: number,
): Promise<Waiting> {
  const [{ due }] = dueRows.parse(
    await database.query(
      `SELECT count(*) AS due FROM outbox_message
      WHERE claimed_by IS NULL AND ${dialect.milliseconds("due_at")} <= ${dialect.parameter(1)}`,
      [now],
    ),
  );
  const claims = claimRows.parse(
    await database.query(
      `SELECT claimed_by AS worker, count(*) AS count, min(${dialect.milliseconds("claimed_until")}) AS until
      FROM outbox_message WHERE claimed_by IS NOT NULL GROUP BY claimed_by ORDER BY claimed_by`,
    ),
  );
  return { due, claims };
}
