import { z } from "zod";
import type { Queryable } from "../database/database.ts";
import { isTakenBack } from "./order.ts";
import type { Ledger } from "./receiver/ledger.ts";

/** What became of all orders, as database and receiver tell. What must be 0 is a fault if it is not. */
export interface Audit {
  /** Orders that were committed, each with its message. */
  readonly sent: number;
  /** Messages whose effect took place. */
  readonly delivered: number;
  readonly dead: number;
  /** Messages that needed more than one attempt. */
  readonly retried: number;
  readonly takenBack: number;
  /** Must be 0: orders that are neither there nor taken back. */
  readonly missing: number;
  /** Must be 0: committed orders whose message is not there, or is `success` without an effect. */
  readonly lost: number;
  /** Must be 0: messages that are neither `success` nor `dead`. */
  readonly stuck: number;
  /** Must be 0: messages whose effect took place more than once. */
  readonly twice: number;
  /** Must be 0: messages that were sent though no commit ever made them. */
  readonly phantoms: number;
}

const READ = `
  SELECT o.number, o.message_id AS id, m.message_status AS status, m.claim_number AS claims
  FROM demo_order o LEFT JOIN outbox_message m ON m.id = o.message_id`;

const rows = z.array(
  z.object({
    number: z.int(),
    id: z.string(),
    status: z.string().nullable(),
    claims: z.int().nullable(),
  }),
);

/** Compares what was committed with what took place. */
export async function audit(orders: number, database: Queryable, ledger: Ledger): Promise<Audit> {
  const found = rows.parse(await database.query(READ));
  const ids = new Set(found.map(({ id }) => id));
  const takenBack = Array.from({ length: orders }, (_, index) => index + 1).filter(isTakenBack);
  const isDone = (status: string | null): boolean => status === "success" || status === "dead";
  return {
    sent: found.length,
    delivered: found.filter(({ id }) => ledger.effectsOf(id) > 0).length,
    dead: found.filter(({ status }) => status === "dead").length,
    retried: found.filter(({ claims }) => (claims ?? 0) > 1).length,
    takenBack: takenBack.length,
    missing: orders - takenBack.length - found.length,
    lost: found.filter(
      ({ id, status }) => status === null || (status === "success" && ledger.effectsOf(id) === 0),
    ).length,
    stuck: found.filter(({ status }) => !isDone(status)).length,
    twice: found.filter(({ id }) => ledger.effectsOf(id) > 1).length,
    phantoms: ledger.ids.filter((id) => !ids.has(id)).length,
  };
}

/** What is wrong, one line each; nothing if all is as it must be. */
export function faultsOf({ missing, lost, stuck, twice, phantoms }: Audit): readonly string[] {
  return Object.entries({ missing, lost, stuck, twice, phantoms })
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => `${name}: ${count}, and must be 0`);
}
