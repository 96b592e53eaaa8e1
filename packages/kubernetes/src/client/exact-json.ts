/** Numbers that stood for an integer that JavaScript does not have, in any response of this process. */
const inexact = new Set<number>();

/** So many are remembered. If there are more, no number of their size is trusted. */
const MAX_INEXACT = 10_000;

/** The digits of a long integer, written out: V8 skips through a text without them, but not for a count. */
const MANY_DIGITS = new RegExp("\\d".repeat(16));

/** A long integer in JSON. One in a text looks the same at worst: it makes a number doubtful, and no text wrong. */
const LONG_INTEGER = /[:,[]\s*(-?\d{16,})(?=\s*[,}\]])/g;

/**
 * Parses JSON. Remembers each integer that it changes: those beyond 2^53 that would be written with other digits.
 *
 * @throws SyntaxError for text that is not JSON
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!MANY_DIGITS.test(text)) return value;
  for (const [, digits = ""] of text.matchAll(LONG_INTEGER)) {
    const number = Number(digits);
    if (String(number) !== digits && inexact.size < MAX_INEXACT) inexact.add(number);
  }
  return value;
}

/**
 * @throws RangeError that names the field, if an object has an integer that was changed when it was read: a write
 * would store the changed one
 */
export function requireExact(value: unknown, path: string): void {
  if (inexact.size === 0) return;
  if (typeof value === "number" && isInexact(value))
    throw new RangeError(
      `${path} must be an integer of at most 2^53 - 1, got ${value}: JavaScript has read another number than the server has. Change other fields with patch()`,
    );
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) requireExact(item, `${path}[${index}]`);
  else if (typeof value === "object" && value !== null)
    for (const [name, field] of Object.entries(value)) requireExact(field, `${path}.${name}`);
}

function isInexact(value: number): boolean {
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return false;
  return inexact.size === MAX_INEXACT || inexact.has(value);
}
