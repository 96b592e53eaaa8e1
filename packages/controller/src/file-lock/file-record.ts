import { isLeaseRecord, type LeaseRecord } from "../election/lease-record.ts";

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
  const { id, ...record } = (parse(text) ?? {}) as { readonly id?: string };
  if (!isLeaseRecord(record)) throw new Error(`${file} does not contain a lease record`);
  return { record, id };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
