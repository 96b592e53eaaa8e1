/** Escape codes of colours, which take no room. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape codes begin with one
const COLOUR = /^\u001b\[\d+m/;
const WIDE =
  /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const EMPTY = /^[\p{M}\p{Cf}]/u;

/** Characters with their escape codes, and how many columns of a terminal each takes. */
function* cellsOf(text: string): Generator<readonly [cell: string, columns: number]> {
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at, at + 16);
    const [colour] = COLOUR.exec(rest) ?? [];
    const cell = colour ?? String.fromCodePoint(text.codePointAt(at) ?? 0);
    yield [cell, colour !== undefined || EMPTY.test(cell) ? 0 : WIDE.test(cell) ? 2 : 1];
    at += cell.length;
  }
}

/** How many columns of a terminal a text takes. */
export function widthOf(text: string): number {
  let sum = 0;
  for (const [, columns] of cellsOf(text)) sum += columns;
  return sum;
}

/** Cuts a text that is wider than `room` columns, and ends it with an ellipsis. */
export function cut(text: string, room: number): string {
  if (widthOf(text) <= room) return text;
  let kept = "";
  let used = 0;
  let isFull = false;
  for (const [cell, columns] of cellsOf(text)) {
    // Codes behind the cut end the colours.
    if (columns === 0 && (isFull || cell.length > 1)) kept += cell.length > 1 ? cell : "";
    else if (!isFull && used + columns < room) {
      kept += cell;
      used += columns;
    } else if (!isFull) {
      kept += "…";
      isFull = true;
    }
  }
  return kept;
}

/** Breaks a text at its spaces, and a word that is too long anywhere. */
export function wrap(text: string, room: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (let word of text.split(" ")) {
    if (line !== "" && widthOf(line) + 1 + widthOf(word) > room) {
      lines.push(line);
      line = "";
    }
    for (; word.length > room; word = word.slice(room)) lines.push(word.slice(0, room));
    line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
