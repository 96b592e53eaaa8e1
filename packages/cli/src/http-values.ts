// Values of the options of `holdfast wait` about an HTTP answer.
import { InvalidArgumentError } from "commander";
import { pattern } from "./arguments.ts";
import type { StatusRanges } from "./http-check.ts";

/** Reads the statuses that a URL may answer with. */
export function statusOf(text: string): StatusRanges {
  return text.split(",").map((part) => {
    const [, from = "", to = from] = /^([1-5]\d\d)(?:-([1-5]\d\d))?$/.exec(part) ?? [];
    if (from === "" || Number(from) > Number(to))
      throw new InvalidArgumentError("Expected statuses such as 200-399 or 200,301.");
    return [Number(from), Number(to)] as const;
  });
}

/** Adds a header, as `Name: value`, to others. */
export function headerOf(
  text: string,
  others: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*([^\r\n\0]*)$/.exec(text) ?? [];
  // The value may be a secret: it is not repeated.
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError('Expected "Name: value".');
  return { ...others, [name]: value };
}

/** Reads the text or the pattern that a body must have. */
export function bodyOf(text: string): string | RegExp {
  return /^\/.+\/[a-z]*$/s.test(text) ? pattern(text) : text;
}
