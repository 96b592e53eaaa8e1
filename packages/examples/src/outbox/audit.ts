import type { Queryable } from "@holdfast/outbox";
import { z } from "zod";
import { isTakenBack } from "./order.ts";

/** The outcome of some orders, read from both databases. Each count that must be 0 is a fault if it is not. */
export interface Audit {
  /** Orders that were committed, each with its message. */
  readonly sent: number;
  /** Messages whose effect took place. */
  readonly delivered: number;
  /** Messages that needed more than one attempt. */
  readonly retried: number;
  /** Messages that were given up. */
  readonly dead: number;
  /** Messages that were given up, and discarded afterwards. */
  readonly discarded: number;
  /** Orders that were never placed. 0 if the run was not stopped. */
  readonly unplaced: number;
  /** Messages that are neither `delivered` nor `dead`: a relay would send them. 0 if the run was not stopped. */
  readonly waiting: number;
  /** Must be 0: orders that were committed and are gone. */
  readonly missing: number;
  /** Must be 0: orders without their message, and messages that are `delivered` without an effect. */
  readonly lost: number;
  /** Must be 0: messages that were given up before they had failed as often as they may. */
  readonly givenUpEarly: number;
  /** Must be 0: messages whose effect took place more than once. */
  readonly twice: number;
  /** Must be 0: orders that were rolled back and are there, and messages that the receiver has seen of orders that are not. */
  readonly phantoms: number;
}

/** Facts that no database knows. */
export interface Audited {
  /** The orders of the run. */
  readonly orders: readonly number[];
  /** Those that a worker has placed, or rolled back: it has said so after the end of its transaction. */
  readonly placed: ReadonlySet<number>;
  /** The ids of all messages that the receiver has seen, of any order. */
  readonly seen: readonly string[];
}

/** A message whose claims expired four times is dead: the message itself may crash its relays. */
const READ = `
  SELECT o.number, o.message_id AS id, m.claim_number AS claims,
    CASE WHEN m.id IS NULL AND o.discarded THEN 'discarded' ELSE m.status END AS status,
    CASE WHEN m.failed_attempts >= m.max_attempts OR m.expired_claims >= 4
      OR m.last_error LIKE 'TerminalError:%' THEN 1 ELSE 0 END AS exhausted,
    (SELECT count(*) FROM demo_effect e WHERE e.message_id = o.message_id) AS effects
  FROM demo_order o LEFT JOIN outbox_message m ON m.id = o.message_id`;

const rows = z.array(
  z.object({
    number: z.int(),
    id: z.string(),
    status: z.string().nullable(),
    claims: z.int().nullable(),
    exhausted: z.int(),
    effects: z.coerce.number(), // Some drivers return a string for large numbers.
  }),
);

/** Compares the committed orders with the effects at the receiver. */
export async function audit(
  { orders, placed, seen }: Audited,
  database: Queryable,
): Promise<Audit> {
  const all = rows.parse(await database.query(READ));
  const wanted = new Set(orders);
  const found = all.filter(({ number }) => wanted.has(number));
  const committed = new Set(all.map(({ id }) => id));
  const there = new Set(found.map(({ number }) => number));
  const absent = orders.filter((order) => !there.has(order));
  const isSettled = (status: string): boolean =>
    ["delivered", "dead", "discarded"].includes(status);
  return {
    sent: found.length,
    delivered: found.filter(({ effects }) => effects > 0).length,
    retried: found.filter(({ claims }) => (claims ?? 0) > 1).length,
    dead: found.filter(({ status }) => status === "dead").length,
    discarded: found.filter(({ status }) => status === "discarded").length,
    unplaced: absent.filter((order) => !placed.has(order)).length,
    waiting: found.filter(({ status }) => status !== null && !isSettled(status)).length,
    missing: absent.filter((order) => placed.has(order) && !isTakenBack(order)).length,
    lost: found.filter(
      ({ status, effects }) => status === null || (status === "delivered" && effects === 0),
    ).length,
    givenUpEarly: found.filter(({ status, exhausted }) => status === "dead" && exhausted === 0)
      .length,
    twice: found.filter(({ effects }) => effects > 1).length,
    phantoms:
      found.filter(({ number }) => isTakenBack(number)).length +
      seen.filter((id) => !committed.has(id)).length,
  };
}

/**
 * The faults, one line each; none for a correct run.
 *
 * @param isSettled - false if the run was stopped before: orders and messages may be left then
 */
export function faultsOf(figures: Audit, isSettled = true): readonly string[] {
  const { unplaced, waiting, missing, lost, givenUpEarly, twice, phantoms } = figures;
  const open = isSettled ? { unplaced, waiting } : {};
  return Object.entries({ ...open, missing, lost, givenUpEarly, twice, phantoms })
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => `${name}: ${count}, must be 0`);
}
