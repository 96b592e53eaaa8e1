import { delayAfter, type Queryable } from "@holdfast/outbox";
import { z } from "zod";
import { SCHEDULE } from "../order.ts";

/** The share of a wait that the relay may add to it. */
const JITTER = 0.1;

/** Delay that the receiver requests with `Retry-After`, in milliseconds. */
const ASKED = 1_000;

/** Both ends of a wait are whole milliseconds. */
const ROUNDING = 2;

const rows = z.array(
  z.object({ id: z.string(), failures: z.int(), wait: z.number(), error: z.string() }),
);

/** Delays between failed attempts, compared with the schedule. */
export interface ScheduleAudit {
  /** How many there were. */
  readonly waits: number;
  /** Those outside `init × factor^failures` plus up to a tenth, and not requested by the receiver. */
  readonly wrong: readonly string[];
}

/** Compares each wait, as the database saw it written, with the formula. */
export async function auditSchedule(database: Queryable): Promise<ScheduleAudit> {
  const found = rows.parse(
    await database.query("SELECT message_id AS id, failures, wait, error FROM demo_failure"),
  );
  const wrong = found.filter(({ failures, wait, error }) => {
    const least = delayAfter(failures, SCHEDULE);
    const asked = / (429|503) /.test(error) ? ASKED : 0;
    const most = Math.max(least * (1 + JITTER), asked) + ROUNDING;
    return wait < Math.max(least, asked) || wait > most;
  });
  const describe = ({ id, failures, wait, error }: (typeof found)[number]): string =>
    `${id}: ${wait} ms after failure ${failures}, ${error}`;
  return { waits: found.length, wrong: wrong.map(describe) };
}
