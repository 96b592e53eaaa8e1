import type { Versioned } from "@holdfast/controller";
import type { Row } from "./database.ts";

/** The lease of a row of the table of locks. */
export function leaseOf(row: Row): Versioned {
  return {
    version: row["version"] as string,
    record: {
      holder: row["holder"] as string,
      leaseDuration: row["lease_duration"] as number,
      acquiredAt: row["acquired_at"] as number,
      renewedAt: row["renewed_at"] as number,
      transitions: row["transitions"] as number,
    },
  };
}
