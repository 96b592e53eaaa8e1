import type { LeaseRecord } from "../election/lease-record.ts";

/** What a file holds. */
export interface FileRecord {
  readonly record: LeaseRecord;
  /** No other file has it, whatever its name; undefined in one that an earlier release wrote. */
  readonly id: string | undefined;
}

/** What a file holds. No record is an error: to take it for a free one could make two leaders. */
export function fileRecordOf(text: string, file: string): FileRecord {
  const { id, ...record } = (parse(text) ?? {}) as Partial<LeaseRecord> & { readonly id?: string };
  const numbers = [record.leaseDuration, record.acquiredAt, record.renewedAt, record.transitions];
  if (typeof record.holder !== "string" || !numbers.every(Number.isFinite))
    throw new Error(`${file} holds no lease record`);
  return { record: record as LeaseRecord, id };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
