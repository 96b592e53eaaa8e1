import type { Claim, Claimed, InvalidRow } from "./claim.ts";
import type { Row } from "./database.ts";
import { claimOf, isInvalid } from "./message-row.ts";

/**
 * Reads claimed rows.
 *
 * @param deadLetter - makes a row that is not a message a dead letter, with the problem as its last error. If
 * that fails too, its claim expires some time, and it is found again then
 */
export async function readClaimed(
  rows: readonly Row[],
  deadLetter: (row: Row, problem: string) => Promise<unknown>,
): Promise<Claimed> {
  const claims: Claim[] = [];
  const invalid: InvalidRow[] = [];
  for (const row of rows) {
    const claim = claimOf(row);
    if (!isInvalid(claim)) {
      claims.push(claim);
      continue;
    }
    const problem = await written(claim.problem, () => deadLetter(row, claim.problem));
    invalid.push({ id: claim.id, problem });
  }
  return { claims, invalid };
}

async function written(problem: string, deadLetter: () => Promise<unknown>): Promise<string> {
  try {
    await deadLetter();
    return problem;
  } catch (error) {
    return `${problem}; marking it dead failed: ${(error as Error).message}`;
  }
}
