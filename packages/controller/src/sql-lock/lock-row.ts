import type { LeaseRecord } from "../election/lease-record.ts";
import type { Versioned } from "../election/resource-lock.ts";

/** Columns of a record, in the order of {@link valuesOf}. */
export const COLUMNS = "version, holder, lease_duration, acquired_at, renewed_at, transitions";

/** Values of the {@link COLUMNS}. */
export function valuesOf(version: string, record: LeaseRecord): unknown[] {
  const { holder, leaseDuration, acquiredAt, renewedAt, transitions } = record;
  return [version, holder, leaseDuration, acquiredAt, renewedAt, transitions];
}

/** Record of a row; undefined without a row. The elector validates it. */
export function recordOf(row: unknown): Versioned | undefined {
  if (row === undefined) return undefined;
  const columns = row as Readonly<Record<string, unknown>>;
  return {
    version: columns["version"] as string,
    record: {
      holder: columns["holder"] as string,
      // Some settings of a driver return numbers as texts or as BigInts.
      leaseDuration: Number(columns["lease_duration"]),
      acquiredAt: Number(columns["acquired_at"]),
      renewedAt: Number(columns["renewed_at"]),
      transitions: Number(columns["transitions"]),
    },
  };
}

/** Whole milliseconds of the row that has the server's time. Drivers return a decimal number as text. */
export function millisecondsOf(row: unknown): number {
  return Math.floor(Number((row as { readonly now: unknown }).now));
}
