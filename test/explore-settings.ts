// The kinds of options that only explorers have, for their tables of bad input.
import { all, arrayOf, type Kind, notNegative, outside, text } from "./bad-input.ts";

const expectation: Kind = (path) =>
  ([null, 5, "other", 1n, {}] as const).map((value) => ({
    path,
    value,
    error: `TypeError: ${path} must be "same" or a function, got ${value === 1n ? '"1n"' : JSON.stringify(value)}`,
  }));

export const ofSettings: Readonly<Record<string, Kind>> = {
  expectation,
  finiteTime: all(notNegative, outside("a finite number", Number.POSITIVE_INFINITY)),
  texts: arrayOf(text),
};
