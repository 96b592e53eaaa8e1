import type { Claim, Claimed, InvalidRow } from "./claim.ts";
import type { Row } from "./database.ts";
import { claimOf, isInvalid } from "./message-row.ts";

/**
 * Reads claimed rows.
 *
 * @param deadLetter - makes a row that is not a message a dead letter, with the problem as its last error. If
 * that fails too, its claim expires some time, and it is found again then
 * @param release - gives all the claims back, if their rows cannot be read: a mistake in this process makes no dead letter
 * @throws Error if the rows cannot be read
 */
export async function readClaimed(
  rows: readonly Row[],
  deadLetter: (row: Row, problem: string) => Promise<unknown>,
  release: () => Promise<unknown> = async () => undefined,
): Promise<Claimed> {
  const claims: Claim[] = [];
  const invalid: InvalidRow[] = [];
  const found = await readAll(rows, release);
  for (const [row, claim] of found) {
    if (!isInvalid(claim)) {
      claims.push(claim);
      continue;
    }
    const problem = await written(claim.problem, () => deadLetter(row, claim.problem));
    invalid.push({ id: claim.id, problem });
  }
  return { claims, invalid };
}

async function readAll(
  rows: readonly Row[],
  release: () => Promise<unknown>,
): Promise<readonly (readonly [Row, Claim | InvalidRow])[]> {
  try {
    return rows.map((row) => [row, claimOf(row)] as const);
  } catch (error) {
    await release();
    throw error;
  }
}

async function written(problem: string, deadLetter: () => Promise<unknown>): Promise<string> {
  try {
    await deadLetter();
    return problem;
  } catch (error) {
    return `${problem}; marking it dead failed: ${(error as Error).message}`;
  }
}
