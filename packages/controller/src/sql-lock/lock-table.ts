import { requireString, requireText } from "@holdfast/clock/internal";

/** Name of the table of all locks of a database. */
export const DEFAULT_TABLE = "holdfast_lock";

/** Longest name of a lock, in bytes of UTF-8. */
const MAX_NAME = 255;

/** A table, in a schema if one is named: a part of the SQL, so it is checked and never quoted. */
export function requireTable(name: string, table: string): void {
  requireString(name, table);
  if (!/^([a-z_][a-z\d_]{0,62}\.)?[a-z_][a-z\d_]{0,62}$/.test(table))
    throw new RangeError(
      `${name} must be lower case letters, digits and underscores, at most 63, after a schema and a dot if any, got ${JSON.stringify(table.slice(0, 60))}`,
    );
}

/** A name that both databases store unchanged. */
export function requireLockName(name: string, value: string): void {
  requireText(name, value);
  if (/\0|\p{Surrogate}/u.test(value))
    throw new RangeError(`${name} must be well-formed Unicode without NUL`);
  const bytes = new TextEncoder().encode(value).length;
  if (bytes > MAX_NAME)
    throw new RangeError(`${name} must be at most ${MAX_NAME} bytes of UTF-8, got ${bytes}`);
}
