import type { Row } from "../store/database.ts";

/** Columns with whole numbers, which some pool options return as text. */
const NUMBERS = [
  ...["create_time", "edit_time", "next_schedule_time", "claimed_until", "claim_number"],
  ...["current_retry_times", "lost_attempts", "max_retry_times"],
];

/** A row as PostgreSQL would give it: MySQL has no type for true and false. */
export function plainRow(row: Row): Row {
  const numbers = NUMBERS.map((column) => [column, numberOrNone(row[column])]);
  const deleted = Number(row["deleted"]) !== 0;
  return { ...row, ...Object.fromEntries(numbers), deleted };
}

function numberOrNone(value: unknown): number | null {
  return value === null ? null : Number(value);
}
