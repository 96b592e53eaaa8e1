import { textOf } from "./explore-options.ts";

const MAX_LINES = 20;
const MAX_TEXT = 120;

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
  if (JSON.stringify(expected) !== JSON.stringify(actual))
    lines.push(`${path || "state"}: expected ${show(expected)}, got ${show(actual)}`);
}

type Tree = Readonly<Record<string, unknown>>;

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

/** A state as JSON has it. */
export function plainOf(state: unknown): unknown {
  const text = textOf(state);
  return text === "undefined" ? undefined : JSON.parse(text);
}
