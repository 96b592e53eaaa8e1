/** Characters that move a cursor, colour a terminal, end a line of a log or reorder text. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/**
 * A text of others as it may stand in a message and in a log: lines become one, and control characters are escaped
 * as in JSON.
 */
export function printable(text: string): string {
  return text
    .replace(/[\r\n\t]+/g, " ")
    .replace(CONTROLS, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
