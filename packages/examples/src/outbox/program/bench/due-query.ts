import { realClock } from "@holdfast/clock";
import type { Database } from "../../database/database.ts";
import { PostgresStore } from "../../store/postgres-store.ts";

/** How many claims are measured, and how many messages each takes. */
const CLAIMS = 40;
const LIMIT = 20;

/** Messages that wait for an hour, but for as many as are claimed. */
const FILL = `
  INSERT INTO outbox_message (
    id, create_time, edit_time, creator, editor, message_status, current_retry_times,
    next_schedule_time, queue_name, exchange_name, routing_key, business_module, business_key
  )
  SELECT gen_random_uuid(), now(), now(), 'bench', 'bench', 'failed', 1,
    now() + CASE WHEN n <= $2 THEN interval '-1 minute' ELSE interval '1 hour' END,
    'q', 'e', 'r', 'bench', n::text
  FROM generate_series(1, $1::integer) n`;

const CONTENT = "INSERT INTO outbox_content SELECT id, '{}' FROM outbox_message";

/** What a relay asks the database, in milliseconds, the median of some. */
export interface DueFigures {
  readonly claimDue: number;
  readonly nextDue: number;
}

/** @param waiting - how many messages wait for their time */
export async function measureDue(waiting: number, database: Database): Promise<DueFigures> {
  await database.query(FILL, [waiting + CLAIMS * LIMIT, CLAIMS * LIMIT]);
  await database.query(CONTENT);
  await database.query("ANALYZE outbox_message");
  const store = new PostgresStore(database);
  const claims: number[] = [];
  const looks: number[] = [];
  for (let claim = 0; claim < CLAIMS; claim++) {
    const now = realClock.now();
    claims.push(
      await timeOf(async () => {
        const found = await store.claimDue({ worker: "bench", now, until: now + 60_000 }, LIMIT);
        if (found.claims.length !== LIMIT) throw new Error(`claimed ${found.claims.length}`);
      }),
    );
    looks.push(await timeOf(() => store.nextDue()));
  }
  return { claimDue: median(claims), nextDue: median(looks) };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = realClock.monotonic();
  await work();
  return realClock.monotonic() - began;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
