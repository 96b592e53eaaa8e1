import { LinkedController } from "@holdfast/clock";
import { LeaderElector, type LeaderElectorOptions, type ResourceLock } from "@holdfast/controller";
import type { Pool } from "pg";

/** The token of the term of each lock, by the description of the lock. */
export type Tokens = Readonly<Record<string, number>>;

/** The signals of both terms in one. */
export interface BothTerms {
  readonly tokens: Tokens;
  readonly signal: AbortSignal;
  readonly lost: AbortSignal;
}

/** Leads under two locks: campaigns for the inner one while it leads under the outer one. */
export function underBoth(
  { outer, inner }: { outer: ResourceLock; inner: ResourceLock },
  work: (terms: BothTerms) => Promise<void>,
  options: Omit<LeaderElectorOptions, "lock" | "lead">,
): LeaderElector {
  return new LeaderElector({
    ...options,
    lock: outer,
    lead: async (a) => {
      const elector = new LeaderElector({
        ...options,
        lock: inner,
        lead: async (b) => {
          const tokens = { [outer.description]: a.token, [inner.description]: b.token };
          // `signal` of `a` ends the inner run, and so `signal` of `b`.
          using lost = new LinkedController(a.lost, b.lost);
          await work({ tokens, signal: b.signal, lost: lost.signal });
        },
      });
      await elector.run(a.signal);
    },
  });
}

export const TABLE = "CREATE TABLE term (lock text PRIMARY KEY, token float8 NOT NULL)";

/** Saves a report unless a newer term of one of the locks has written. Call it first in a term: from then on it holds. */
export async function save(pool: Pool, tokens: Tokens, report: string): Promise<boolean> {
  const locks = Object.keys(tokens).sort(); // in another order, two writers could wait for each other
  const { rowCount } = await pool.query(
    `WITH newest AS (
       INSERT INTO term SELECT * FROM unnest($1::text[], $2::float8[])
       ON CONFLICT (lock) DO UPDATE SET token = excluded.token WHERE term.token <= excluded.token
       RETURNING lock)
     INSERT INTO report SELECT $3 WHERE (SELECT count(*) FROM newest) = cardinality($1)`,
    [locks, locks.map((lock) => tokens[lock]), report],
  );
  return rowCount === 1;
}
