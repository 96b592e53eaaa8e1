/** Controls, changes of the direction of writing, and ends of lines. */
export const UNPRINTABLE: RegExp = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/**
 * A text in one line that a terminal shows as it is. Texts of files, servers and other processes may hold escape codes,
 * and forge or reorder lines: each passes here before it is printed, save the output of a command.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\n\t]/g, " ").replaceAll(UNPRINTABLE, "\ufffd");
}
