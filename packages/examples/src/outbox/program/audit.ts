import { z } from "zod";
import type { Queryable } from "../database/database.ts";
import { isTakenBack } from "./order.ts";

/** What became of some orders, as both databases tell. What must be 0 is a fault if it is not. */
export interface Audit {
  /** Orders that were committed, each with its message. */
  readonly sent: number;
  /** Messages whose effect took place. */
  readonly delivered: number;
  /** Messages that needed more than one attempt. */
  readonly retried: number;
  /** Messages that were given up. */
  readonly dead: number;
  /** Must be 0: orders that are neither there nor taken back. */
  readonly missing: number;
  /** Must be 0: orders without their message, and messages that are `success` without an effect. */
  readonly lost: number;
  /** Must be 0: messages that are neither `success` nor `dead`. */
  readonly stuck: number;
  /** Must be 0: messages that were given up before they had failed as often as they may. */
  readonly givenUpEarly: number;
  /** Must be 0: messages whose effect took place more than once. */
  readonly twice: number;
  /** Must be 0: messages that the receiver has seen, of orders that were never committed. */
  readonly phantoms: number;
}

const READ = `
  SELECT o.number, o.message_id AS id, m.message_status AS status, m.claim_number AS claims,
    m.current_retry_times >= m.max_retry_times OR m.last_error LIKE 'TerminalError:%' AS exhausted,
    (SELECT count(*)::integer FROM demo_effect e WHERE e.message_id = o.message_id) AS effects
  FROM demo_order o LEFT JOIN outbox_message m ON m.id = o.message_id`;

const rows = z.array(
  z.object({
    number: z.int(),
    id: z.string(),
    status: z.string().nullable(),
    claims: z.int().nullable(),
    exhausted: z.boolean().nullable(),
    effects: z.int(),
  }),
);

/**
 * Compares what was committed with what took place.
 *
 * @param orders - all that were to be placed
 * @param seen - ids of all messages that the receiver has seen, of whatever order
 */
export async function audit(
  orders: readonly number[],
  seen: readonly string[],
  database: Queryable,
): Promise<Audit> {
  const all = rows.parse(await database.query(READ));
  const wanted = new Set(orders);
  const found = all.filter(({ number }) => wanted.has(number));
  const committed = new Set(all.map(({ id }) => id));
  const takenBack = orders.filter(isTakenBack).length;
  const isSettled = (status: string | null): boolean => status === "success" || status === "dead";
  return {
    sent: found.length,
    delivered: found.filter(({ effects }) => effects > 0).length,
    retried: found.filter(({ claims }) => (claims ?? 0) > 1).length,
    dead: found.filter(({ status }) => status === "dead").length,
    missing: orders.length - takenBack - found.length,
    lost: found.filter(
      ({ status, effects }) => status === null || (status === "success" && effects === 0),
    ).length,
    stuck: found.filter(({ status }) => status !== null && !isSettled(status)).length,
    givenUpEarly: found.filter(({ status, exhausted }) => status === "dead" && exhausted !== true)
      .length,
    twice: found.filter(({ effects }) => effects > 1).length,
    phantoms: seen.filter((id) => !committed.has(id)).length,
  };
}

/**
 * What is wrong, one line each; nothing if all is as it must be.
 *
 * @param isSettled - false if it was stopped before: much is not placed then, or not sent
 */
export function faultsOf(figures: Audit, isSettled = true): readonly string[] {
  const { missing, stuck, lost, givenUpEarly, twice, phantoms } = figures;
  const open = isSettled ? { missing, stuck } : {};
  return Object.entries({ ...open, lost, givenUpEarly, twice, phantoms })
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => `${name}: ${count}, and must be 0`);
}
