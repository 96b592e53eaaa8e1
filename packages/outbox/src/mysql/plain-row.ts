import type { Row } from "../store/database.ts";

/** Columns with whole numbers, which some pool options return as text. */
const NUMBERS = [
  ...["created_at", "updated_at", "due_at", "claimed_until", "claim_number"],
  ...["failed_attempts", "expired_claims", "max_attempts"],
];

/** A row as PostgreSQL would give it. */
export function plainRow(row: Row): Row {
  const numbers = NUMBERS.map((column) => [column, numberOrNone(row[column])]);
  return { ...row, ...Object.fromEntries(numbers) };
}

/** An object stays as it is: a setting of the driver has made it, and the row is not at fault. */
function numberOrNone(value: unknown): unknown {
  return typeof value === "object" ? value : Number(value);
}
