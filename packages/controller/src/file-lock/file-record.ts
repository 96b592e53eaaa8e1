import type { LeaseRecord } from "../election/lease-record.ts";

/** Content of a file. */
export interface FileRecord {
  readonly record: LeaseRecord;
  /** Unique to this file; undefined in a file of an earlier release. */
  readonly id: string | undefined;
}

/**
 * Parses a file.
 *
 * @throws Error if the file holds no record: treating it as a free lease could make two leaders
 */
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
