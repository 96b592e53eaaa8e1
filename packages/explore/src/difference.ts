import { plainOf } from "./state-text.ts";

const MAX_LINES = 20;
const MAX_TEXT = 120;

/** Characters to show before the first that differs. */
const TEXT_BEFORE = 30;

/**
 * The lines that say how a state differs from the expected one, by path. A part that only one of them has is one
 * line.
 */
export function differenceOf(expected: unknown, actual: unknown): string[] {
  const lines: string[] = [];
  compare("", plainOf(expected), plainOf(actual), lines);
  if (lines.length <= MAX_LINES) return lines;
  return [...lines.slice(0, MAX_LINES), `… and ${lines.length - MAX_LINES} more`];
}

function compare(path: string, expected: unknown, actual: unknown, lines: string[]): void {
  if (isTree(expected) && isTree(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const own = path === "" ? name : `${path}.${name}`;
      if (!(name in actual)) lines.push(`${own}: missing, expected ${show(expected[name])}`);
      else if (!(name in expected)) lines.push(`${own}: left over, ${show(actual[name])}`);
      else compare(own, expected[name], actual[name], lines);
    }
    return;
  }
  const [wanted, got] = [jsonOf(expected), jsonOf(actual)];
  if (wanted === got) return;
  const start = startOf(wanted, got);
  lines.push(`${path || "state"}: expected ${cut(wanted, start)}, got ${cut(got, start)}`);
}

type Tree = Readonly<Record<string, unknown>>;

export function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null;
}

function show(value: unknown): string {
  return cut(jsonOf(value), 0);
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value) ?? "undefined";
}

/** Where to begin to show two texts: shortly before they differ, if that is far from their begin. */
function startOf(one: string, other: string): number {
  if (Math.max(one.length, other.length) <= MAX_TEXT) return 0;
  let same = 0;
  while (one[same] === other[same]) same += 1;
  return same <= MAX_TEXT / 2 ? 0 : same - TEXT_BEFORE;
}

function cut(text: string, start: number): string {
  const end = start + MAX_TEXT;
  return `${start > 0 ? "…" : ""}${text.slice(start, end)}${text.length > end ? "…" : ""}`;
}
