import type { LeaseRecord } from "./lease-record.ts";

/** The record that a file holds. One that is none is an error: to take it for a free one could make two leaders. */
export function recordOf(text: string, file: string): LeaseRecord {
  const record = parse(text) as Partial<LeaseRecord> | null | undefined;
  const numbers = [
    record?.leaseDuration,
    record?.acquiredAt,
    record?.renewedAt,
    record?.transitions,
  ];
  if (typeof record?.holder !== "string" || !numbers.every(Number.isFinite))
    throw new Error(`${file} holds no lease record`);
  return record as LeaseRecord;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
