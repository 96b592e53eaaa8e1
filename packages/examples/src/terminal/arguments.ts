import { InvalidArgumentError } from "commander";
import { parseDuration } from "./duration.ts";

/** Returns a parser for whole numbers from `min` to `max`, for an option of commander. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };
}

/** Parses a duration, in milliseconds, for an option of commander. */
export function duration(text: string): number {
  const value = parseDuration(text);
  if (value !== undefined) return value;
  throw new InvalidArgumentError('Expected a duration such as "500ms", "20s" or "1m30s".');
}
