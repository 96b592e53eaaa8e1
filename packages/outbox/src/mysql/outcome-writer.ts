import type { Claim } from "../store/claim.ts";
import type { Queryable, Row } from "../store/database.ts";
import type { Failure, Outcome } from "../store/outbox-store.ts";
import { changeAll, listsOf, sequenceOf } from "./lists.ts";
import type { Statements } from "./statements.ts";

/**
 * Writes outcomes of claims in a transaction. It locks the rows, compares the numbers of their claims, and
 * writes: the server's count of changed rows depends on the options of the pool.
 *
 * @returns for each whether it was written. A second failure or release of a claim is refused, or it would
 * count twice. A delivery is right even after its claim has ended, as long as there is no newer one
 */
export async function writeOutcomes(
  tx: Queryable,
  sql: Statements,
  outcomes: readonly Outcome[],
): Promise<readonly boolean[]> {
  const rows = await lockAll(tx, sql, outcomes);
  const rowOf = ({ claim, type }: Outcome): Row | undefined =>
    heldRow(rows.get(claim.message.id), claim, type === "delivered");
  const delivered = new Map<number, unknown[]>();
  const released: unknown[] = [];
  for (const outcome of outcomes) {
    const row = rowOf(outcome);
    if (row === undefined) continue;
    if (outcome.type === "failed") await writeFailure(tx, sql.fail, outcome);
    else if (outcome.type === "released") released.push(sequenceOf(row));
    else delivered.set(outcome.now, [...(delivered.get(outcome.now) ?? []), sequenceOf(row)]);
  }
  for (const [now, sequences] of delivered)
    await changeAll(tx, sequences, sql.deliver, [Math.round(now)]);
  await changeAll(tx, released, sql.release);
  return outcomes.map((outcome) => rowOf(outcome) !== undefined);
}

/** @returns false, and changes nothing, if the claim is not the newest, or has ended */
export async function recoverClaim(
  tx: Queryable,
  sql: Statements,
  expired: { readonly claim: Claim; readonly failure: Failure },
): Promise<boolean> {
  const { claim } = expired;
  const [row] = await tx.query(sql.lockClaims(1), [claim.message.id]);
  if (heldRow(row, claim, false) === undefined) return false;
  await writeFailure(tx, sql.recover, expired);
  return true;
}

async function writeFailure(
  tx: Queryable,
  text: string,
  { claim, failure }: { readonly claim: Claim; readonly failure: Failure },
): Promise<void> {
  const { now, error, dueAt } = failure;
  const next = dueAt === undefined ? ["dead", null] : [null, Math.round(dueAt)];
  await tx.query(text, [...next, error, Math.round(now), claim.message.id]);
}

async function lockAll(
  tx: Queryable,
  sql: Statements,
  outcomes: readonly Outcome[],
): Promise<ReadonlyMap<unknown, Row>> {
  const ids = new Set(outcomes.map(({ claim }) => claim.message.id));
  const rows: Row[] = [];
  // Sorted, or two batches could wait for one another.
  for (const list of listsOf([...ids].sort()))
    rows.push(...(await tx.query(sql.lockClaims(list.length), list)));
  return new Map(rows.map((row) => [row["id"], row]));
}

/** The row, if it has no newer claim, and the claim is held or need not be. */
function heldRow(row: Row | undefined, claim: Claim, isLateAllowed: boolean): Row | undefined {
  if (row === undefined || Number(row["claim_number"]) !== claim.number) return undefined;
  return isLateAllowed || row["claimed_by"] !== null ? row : undefined;
}
