/**
 * Breaks text at spaces into lines of at most `most` characters, unless a word is longer.
 *
 * @param indent - begins each line but the first
 */
export function linesOf(text: string, most: number, indent = ""): string[] {
  const at = text.lastIndexOf(" ", most);
  if (text.length <= most || at <= indent.length) return [text];
  return [text.slice(0, at), ...linesOf(indent + text.slice(at + 1), most, indent)];
}
