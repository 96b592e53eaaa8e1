import type { BrokenMessage, Claim, Claimed } from "./claim.ts";
import type { Row } from "./database.ts";
import { claimOf, isBroken } from "./message-row.ts";

/**
 * Reads rows that were claimed.
 *
 * @param bury - makes the message of a row dead, with the problem as its last error. If that fails too, its
 * claim ends some time, and it is found again then
 */
export async function readClaimed(
  rows: readonly Row[],
  bury: (row: Row, problem: string) => Promise<unknown>,
): Promise<Claimed> {
  const claims: Claim[] = [];
  const broken: BrokenMessage[] = [];
  for (const row of rows) {
    const claim = claimOf(row);
    if (!isBroken(claim)) {
      claims.push(claim);
      continue;
    }
    const problem = await buried(claim.problem, () => bury(row, claim.problem));
    broken.push({ id: claim.id, problem });
  }
  return { claims, broken };
}

async function buried(problem: string, bury: () => Promise<unknown>): Promise<string> {
  try {
    await bury();
    return problem;
  } catch (error) {
    return `${problem}; marking it dead failed: ${(error as Error).message}`;
  }
}
