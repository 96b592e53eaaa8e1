import { requireOptions } from "@holdfast/clock/internal";

/** Names that HTTP allows. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** Values that HTTP allows. Node refuses control characters only when it sends. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers that `fetch` sets itself, and refuses or breaks with from others. */
const OF_FETCH = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

const LONGEST_SHOWN = 64;

/**
 * The headers of each request but the id of its message.
 *
 * @throws RangeError or TypeError that names the header. It never holds the value: that may be a secret
 */
export function requireHeaders(given: Readonly<Record<string, string>>): Headers {
  requireOptions("options.headers", given);
  if (Symbol.iterator in given)
    throw new TypeError("options.headers must be a plain object of header names and values");
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    const place = `options.headers[${shown(name)}]`;
    if (!NAME.test(name)) throw new RangeError(`${place} is not a valid header name`);
    if (OF_FETCH.has(name.toLowerCase()))
      throw new RangeError(`${place} must not be set: fetch sets it`);
    if (headers.has(name))
      throw new RangeError(`${place} must occur once, got it in upper and lower case`);
    if (typeof value !== "string") throw new TypeError(`${place} must be a string`);
    if (!VALUE.test(value))
      throw new RangeError(
        `${place} must contain only Latin-1 characters without control characters`,
      );
    headers.set(name, value);
  }
  if (!headers.has("content-type")) headers.set("content-type", "application/json");
  return headers;
}

/** A name up to its first mistake: behind it may be a value. */
function shown(name: string): string {
  const [good = ""] = /^[\w!#$%&'*+.^`|~-]*/.exec(name) ?? [];
  const start = good.slice(0, LONGEST_SHOWN);
  return JSON.stringify(start === name ? name : `${start}…`);
}
