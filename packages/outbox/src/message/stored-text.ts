import { requireString, requireText } from "@holdfast/clock/internal";

/** The longest name or route field, in bytes of UTF-8: the limit of AMQP and of the indexes of MySQL. */
const LONGEST_TEXT = 255;

/** The longest content as JSON, in bytes of UTF-8: 8 MiB. */
export const LONGEST_CONTENT: number = 8 * 1_024 * 1_024;

/** A text that every database and broker stores as it is: well-formed, without NUL, not too long. */
export function requireStoredText(name: string, value: string): void {
  requireString(name, value);
  if (value.includes("\0")) throw new RangeError(`${name} must not contain NUL`);
  if (/\p{Surrogate}/u.test(value))
    throw new RangeError(`${name} must be well-formed Unicode, got a lone surrogate`);
  requireBytes(name, value, LONGEST_TEXT);
}

/** A non-empty {@link requireStoredText | stored text}. */
export function requireStoredName(name: string, value: string): void {
  requireText(name, value);
  requireStoredText(name, value);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(value: string): boolean {
  return UUID.test(value);
}

/** Returns a UUID in lower case, as it is stored. */
export function requireUuid(name: string, value: string): string {
  requireString(name, value);
  if (!isUuid(value)) throw new RangeError(`${name} must be a UUID`);
  return value.toLowerCase();
}

export function requireBytes(name: string, value: string, most: number): void {
  const bytes = new TextEncoder().encode(value).length;
  if (bytes > most)
    throw new RangeError(`${name} must be at most ${most} bytes of UTF-8, got ${bytes}`);
}
