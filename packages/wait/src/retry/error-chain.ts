import { isTimeoutError } from "../limit/timeout-error.ts";

/**
 * The first error with this code among a value and its causes, as Go's `errors.As` searches.
 *
 * The cause of a timeout is not searched: it belongs to an earlier attempt, and says nothing about
 * the one that timed out. An error that throws when read has no code.
 */
export function findByCode(value: unknown, code: string): object | undefined {
  try {
    const seen = new Set<unknown>();
    let link = value;
    while (typeof link === "object" && link !== null && !seen.has(link)) {
      const { code: found, cause } = link as { readonly code?: unknown; readonly cause?: unknown };
      if (found === code) return link;
      if (isTimeoutError(link)) return undefined;
      seen.add(link);
      link = cause;
    }
  } catch {
    // A getter or a proxy threw: there is no code to read.
  }
  return undefined;
}
