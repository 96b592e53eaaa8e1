import type { Message } from "../message/message.ts";
import { storedPayloadOf } from "../message/stored-payload.ts";

/** Characters that a terminal acts on or that hide what is there: controls, formats, line ends, half characters. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A text of others in one line, cut after `most` characters. */
export function safeText(text: string, most: number = Number.POSITIVE_INFINITY): string {
  const isLong = text.length > most;
  const kept = (isLong ? text.slice(0, most) : text).replaceAll(UNSAFE, (character) => {
    if (character === "\n") return "\\n";
    return `\\u{${character.codePointAt(0)?.toString(16)}}`;
  });
  return isLong ? `${kept}…` : kept;
}

/** An instant in UTC, to the second. */
export function instantText(at: number): string {
  return Number.isFinite(at) ? `${new Date(at).toISOString().slice(0, 19)}Z` : "unknown";
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
] as const;

/** A duration in its largest unit, as kubectl prints ages. */
export function ageText(milliseconds: number): string {
  const [unit, size] = UNITS.find(([, each]) => milliseconds >= each) ?? ["s", 1_000];
  return `${Math.floor(Math.max(milliseconds, 0) / size)}${unit}`;
}

/** Lines whose columns stand below one another. */
export function tableText(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

/** A value as JSON in one line. Some characters of C1 begin a command of a terminal. */
export function jsonLine(value: unknown): string {
  return `${inOneLine(JSON.stringify(value))}\n`;
}

/** A message as JSON in one line, with its payload as it is stored: parsing would change some numbers. */
export function messageJson(message: Message): string {
  const { payload: _, ...rest } = message;
  const stored = storedPayloadOf(message) ?? JSON.stringify(message.payload) ?? "null";
  return `${inOneLine(`${JSON.stringify(rest).slice(0, -1)},"payload":${stored}}`)}\n`;
}

/** Line ends stand between the parts of JSON only, and the others in its texts only. */
function inOneLine(json: string): string {
  return json
    .replaceAll(/[\n\r\t]/g, " ")
    .replaceAll(/[\u007f-\u009f\u2028\u2029]/g, (character) => {
      return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
    });
}
