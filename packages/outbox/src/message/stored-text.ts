import { type Kind, kind, requireString, requireText } from "@holdfast/kit";

/** The longest name, in bytes of UTF-8: the limit of AMQP and of the indexes of MySQL. */
const MAX_TEXT = 255;

/** The longest payload as JSON, in bytes of UTF-8: 8 MiB. */
export const MAX_PAYLOAD: number = 8 * 1_024 * 1_024;

/** The longest headers as JSON, in bytes of UTF-8: 8 KiB, and the limit of most HTTP servers. */
export const MAX_HEADERS: number = 8 * 1_024;

/** A name that every database and broker stores as it is: not empty, well-formed, without NUL, not too long. */
export const storedName: Kind = kind("storedName", requireStoredName);

export function requireStoredName(name: string, value: string): void {
  requireText(name, value);
  if (value.includes("\0")) throw new RangeError(`${name} must not contain NUL`);
  if (/\p{Surrogate}/u.test(value))
    throw new RangeError(`${name} must be well-formed Unicode, got a lone surrogate`);
  requireBytes(name, value, MAX_TEXT);
}

/** A UUID in upper or lower case. */
export const uuid: Kind = kind("uuid", requireUuid);

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
