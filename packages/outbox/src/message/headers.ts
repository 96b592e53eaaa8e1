import { requireOptions } from "@holdfast/kit";
import type { MessageHeaders } from "./message.ts";

/** Names that HTTP allows. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** Values that HTTP allows. Node refuses control characters only when it sends. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers of the connection, which HTTP clients set themselves. */
const OF_THE_CONNECTION = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

const MAX_SHOWN = 64;

/**
 * Checks headers, and returns a copy: each name once, in upper or lower case.
 *
 * @throws RangeError or TypeError that names the header. It never holds the value: that may be a secret
 */
export function requireHeaders(option: string, given: MessageHeaders): MessageHeaders {
  if (typeof given === "object" && given !== null && Symbol.iterator in given)
    throw new TypeError(`${option} must be a plain object of header names and values`);
  requireOptions(option, given);
  const names = new Set<string>();
  for (const [name, value] of Object.entries(given)) {
    const place = `${option}[${shown(name)}]`;
    if (!NAME.test(name)) throw new RangeError(`${place} is not a valid header name`);
    const lower = name.toLowerCase();
    if (OF_THE_CONNECTION.has(lower))
      throw new RangeError(`${place} must not be set: the HTTP client sets it`);
    if (names.has(lower))
      throw new RangeError(`${place} must occur once, got it in upper and lower case`);
    if (typeof value !== "string") throw new TypeError(`${place} must be a string`);
    if (!VALUE.test(value))
      throw new RangeError(
        `${place} must contain only Latin-1 characters without control characters`,
      );
    names.add(lower);
  }
  return { ...given };
}

/** A name up to its first mistake: behind it may be a value. */
function shown(name: string): string {
  const start = name.replace(/[^\w!#$%&'*+.^`|~-].*/s, "").slice(0, MAX_SHOWN);
  return JSON.stringify(start === name ? name : `${start}…`);
}
